// The command that ships as one file: `node storage-audit.mjs FILE`.
import { runAudit } from './command.ts';
import { keepMemoryFlat } from './flat-memory.ts';

keepMemoryFlat();

const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());

process.exitCode = await runAudit(
  process.argv.slice(2),
  {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isWatched: process.stderr.isTTY,
  },
  end.signal,
);

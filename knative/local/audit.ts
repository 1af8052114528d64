// `npm run audit`: what is stored in which version, in a snapshot, in any etcd, or, when nothing is
// named, in that of the control plane that `npm start` holds up.
import { runAudit } from '../../functions/storage-audit/command.ts';
import { keepMemoryFlat } from '../../functions/storage-audit/flat-memory.ts';
import { etcdUrlOfPlane } from './watch/address.ts';

keepMemoryFlat();

const end = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());

process.exitCode = await runAudit(
  process.argv.slice(2),
  {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isWatched: process.stderr.isTTY,
    findEtcd: etcdUrlOfPlane,
  },
  end.signal,
);

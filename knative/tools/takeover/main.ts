// `npm run takeover`: prints what operators that are gone left behind, and how it would be taken
// over.
import { runTakeover } from './command.ts';

const NAME = 'ballast-takeover';

const terminal = {
  out: (text: string) => void process.stdout.write(text),
  err: (text: string) => void process.stderr.write(text),
};
process.exitCode = await runTakeover(process.argv.slice(2), terminal, async () => {
  const { openKube } = await import('../../../shared/kube/client.ts');
  return openKube({ userAgent: NAME, fieldManager: NAME });
});

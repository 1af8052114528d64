// The process of the command: arguments, terminal and API server in, the exit code out.
import { runTakeover } from './command.ts';

const NAME = 'ballast-takeover';

export async function runAsProgram(
  args: readonly string[] = process.argv.slice(2),
  usage?: string,
): Promise<void> {
  const terminal = {
    out: (text: string) => void process.stdout.write(text),
    err: (text: string) => void process.stderr.write(text),
  };
  const open = async () => {
    const { openKube } = await import('../../../shared/kube/client.ts');
    return openKube({ userAgent: NAME, fieldManager: NAME });
  };
  process.exitCode = await runTakeover(args, terminal, open, usage);
}

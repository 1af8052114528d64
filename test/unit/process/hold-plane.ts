// A starter that holds up a plane of one part and a paused one, says its directory and their pids,
// and waits to be ended.
import { PartProcess } from '../../../knative/try/local/process/part.ts';
import { makeRunDirectory } from '../../../knative/try/local/process/run-directory.ts';

const run = await makeRunDirectory();
const pids: (number | undefined)[] = [];
for (const name of ['busy', 'paused']) {
  const spec = {
    name,
    command: process.execPath,
    args: ['-e', 'setInterval(() => undefined, 1_000)'],
    env: {},
    url: '',
    ready: async () => true,
  };
  const part = new PartProcess(spec, run.mark, () => undefined);
  await part.start();
  if (name === 'paused') await part.pause();
  pids.push(part.pid);
}
process.stdout.write(`${JSON.stringify({ dir: run.path, pids })}\n`);

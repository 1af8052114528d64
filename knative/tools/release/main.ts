// `npm run release`: everything that is published of a version, in one directory, by one command.
import { answerCommand } from '../../../shared/arguments.ts';
import { assertCommitted, NotCommitted } from './committed.ts';
import { releaseOptions, USAGE } from './options.ts';

// An unfinished release is ended and removed on the way out (see knative/tools/build).
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  await answerCommand(USAGE, async (args) => {
    const options = await releaseOptions(args);
    if (options === undefined) return USAGE;
    await assertCommitted();
    const { makeRelease } = await import('./release.ts');
    await makeRelease(options, (line) => process.stderr.write(`${line}\n`));
    return `${options.outDir}\n`;
  });
} catch (error) {
  if (!(error instanceof NotCommitted)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

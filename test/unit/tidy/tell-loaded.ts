// Loaded before a command (`node --import`): its last line on stderr is how many files of ours it
// has loaded, and which packages.
import { registerHooks } from 'node:module';

const packages = new Set<string>();
let files = 0;

registerHooks({
  load(url, context, nextLoad) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) packages.add(name);
    else if (url.endsWith('.ts')) files += 1;
    return nextLoad(url, context);
  },
});

process.on('exit', () => {
  process.stderr.write(`\n${JSON.stringify({ files, packages: [...packages] })}`);
});

// Runs a function from its sources: `node shared/function/run.ts functions/metadata`. This is for
// development; users get the bundle (knative/tools/build).
import { resolve } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { definitionIn } from './define.ts';
import { serve } from './serve.ts';

const folder = process.argv[2];
if (folder === undefined)
  throw new Error('Say which function: node shared/function/run.ts functions/<name>');
const path = resolve(folder, 'index.ts');
const module: unknown = await import(path);
await serve(definitionIn(module, path), { version: manifest.version, commit: '' });

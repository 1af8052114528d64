// The same handler on faas-js-runtime, started by its API rather than its slower command line.
import { type Context, start } from 'faas-js-runtime';
import { checkPod } from './check-pod.ts';

void start(
  {
    handle: (_context: Context, event?: { readonly data?: unknown }) => {
      checkPod(event?.data);
    },
  },
  { port: Number(process.env['PORT']) },
);

// The same handler on faas-js-runtime, started by its API rather than its slower command line.
import { type Context, start } from 'faas-js-runtime';
import { look } from './look.ts';

void start(
  {
    handle: (_context: Context, event?: { readonly data?: unknown }) => {
      look(event?.data);
    },
  },
  { port: Number(process.env['PORT']) },
);

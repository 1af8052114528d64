// A look at the state that console shows, under its own account.
import { consolePage } from '../../../functions/console/index.ts';
import type { Installed } from './installed.ts';

interface Kind {
  readonly kind: string;
  readonly objects: readonly unknown[];
}

/** The kinds of which it showed no object. */
export async function notShownBy(installed: Installed): Promise<readonly string[]> {
  const url = installed.plane.part('nats-server').urls?.['console'] ?? '';
  const { port } = await installed.run(consolePage, { NATS_URL: url });
  const answer = await fetch(`http://127.0.0.1:${port}/api/state`);
  const { kinds } = (await answer.json()) as { readonly kinds: readonly Kind[] };
  return kinds.filter(({ objects }) => objects.length === 0).map(({ kind }) => kind);
}

// The table of docs/security.md that says what each account could do in the wrong hands.
import { readFile } from 'node:fs/promises';

const PAGE = new URL('../../../docs/security.md', import.meta.url);

interface Row {
  readonly account: string;
  readonly place: string;
  readonly rights: readonly string[];
}

/** Account, where, verbs and what, as the second table of that section has them. */
export async function rowsOfPage(): Promise<readonly Row[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('\n## If an account is taken over');
  const rows = section.matchAll(
    /^[|] `([a-z-]+)` [|] ([^|]+) [|] `([a-z,]+)` [|] `([^`]+)` [|]$/gm,
  );
  return [...rows].map(([, name = '', place = '', verbs = '', resources = '']) => ({
    account: name,
    place,
    rights: verbs
      .split(',')
      .flatMap((verb) => resources.split(', ').map((one) => `${verb} ${one}`)),
  }));
}

export const isAt = (place: string, namespace: string): boolean =>
  place === 'everywhere' ||
  place === `in \`${namespace}\`` ||
  (place === 'where it is granted' && namespace === 'shop');

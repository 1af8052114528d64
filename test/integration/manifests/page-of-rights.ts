// The table of docs/security.md that says what each account could do in the wrong hands.
import { readFile } from 'node:fs/promises';

const PAGE = new URL('../../../docs/security.md', import.meta.url);

interface Row {
  readonly account: string;
  readonly where: string;
  readonly rights: readonly string[];
}

/** Account, where, verbs and what, as the second table of that section has them. */
export async function rowsOfPage(): Promise<readonly Row[]> {
  const [, section = ''] = (await readFile(PAGE, 'utf8')).split('\n## If an account is taken over');
  const rows = section.matchAll(
    /^[|] `([a-z-]+)` [|] ([^|]+) [|] `([a-z,]+)` [|] `([^`]+)` [|]$/gm,
  );
  return [...rows].map(([, name = '', where = '', verbs = '', what = '']) => ({
    account: name,
    where,
    rights: verbs.split(',').flatMap((verb) => what.split(', ').map((one) => `${verb} ${one}`)),
  }));
}

export const isAt = (where: string, namespace: string): boolean =>
  where === 'everywhere' ||
  where === `in \`${namespace}\`` ||
  (where === 'where it is granted' && namespace === 'shop');

// The digest by which a server says what it has loaded, from 2.11 on: that of its configuration as
// JSON, with keys in order, and with variables as it found them when it read them. Pure.
import { hash } from 'node:crypto';
import { sorted } from '../../../../shared/hash.ts';
import type { Fields } from '../../legacy/said.ts';
import { isWord } from './chart-text.ts';

/** Undefined where a variable is not known. */
export function digestOf(
  config: Fields,
  valueOf: (variable: string) => string | undefined,
): string | undefined {
  let isKnown = true;
  const text = JSON.stringify(sorted(config), (_, value: unknown) => {
    if (!isWord(value)) return value;
    const read = value.word.startsWith('$') ? valueOf(value.word.slice(1)) : value.word;
    isKnown &&= read !== undefined;
    return read;
  });
  return isKnown ? `sha256:${hash('sha256', `${text.replaceAll(HTML, escaped)}\n`)}` : undefined;
}

/** Go writes these so, since its JSON may stand in a page. */
const HTML = /[<>&\u2028\u2029]/g;
const escaped = (one: string): string => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;

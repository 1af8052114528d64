// The text that the chart writes for its servers: JSON, in which `<< WORD >>` has lost its quotes.
// Pure.
import { isRecord } from '../../../../shared/kube/json.ts';
import { fieldOf } from '../../legacy.ts';
import type { Fields } from '../../legacy/said.ts';
import { loginsIn, nameIn } from '../config.ts';

/** A password as it stands there; a variable by its name. */
export type Password = { readonly text: string } | { readonly variable: string };

/** A word without quotes: a variable, or an amount such as 1GB. */
export const isWord = (value: unknown): value is { readonly word: string } =>
  isRecord(value) && typeof value['word'] === 'string' && Object.keys(value).length === 1;

/** A string that does not end goes to the end of the text, so that none of it is read twice. */
const TOKEN = /"(?:[^"\\]|\\.)*"?|[^\s{}[\],:"]+/g;
/** NATS knows no `null`, and reads a word. */
const LITERAL = /^(?:"|true$|false$|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?$)/;

export function parsed(text: string): Fields | undefined {
  const json = text.replaceAll(TOKEN, (token) =>
    LITERAL.test(token) ? token : JSON.stringify({ word: token }),
  );
  try {
    const config: unknown = JSON.parse(json);
    return isRecord(config) ? config : undefined;
  } catch {
    return undefined;
  }
}

const PLAIN = /^[^\s"'\\;,{}[\]()]+$/;
const QUOTED = /^(["'])([^"'\\]*)\1$/;

/** The text of a variable as NATS reads it, which takes it for a part of the file. */
export function wordIn(variable: string): string | undefined {
  const text = variable.trim();
  if (PLAIN.test(text)) return text;
  return QUOTED.exec(text)?.[2];
}

/** By users. */
export function passwordsOf(config: Fields): ReadonlyMap<string, Password> {
  const accounts = Object.values(fieldOf(config, 'accounts')).filter((one) => isRecord(one));
  const logins = [fieldOf(config, 'authorization'), ...accounts].flatMap((one) => loginsIn(one));
  const found = logins.flatMap((one) => {
    const name = nameIn(one);
    const password = passwordIn(one['password'] ?? one['pass']);
    return name === undefined || password === undefined ? [] : [[name, password] as const];
  });
  return new Map(found);
}

/** Without a text a NatsCluster would let nobody in. */
function passwordIn(value: unknown): Password | undefined {
  if (typeof value === 'string') return value === '' ? undefined : { text: value };
  if (!isWord(value)) return undefined;
  const { word } = value;
  return word.startsWith('$') ? { variable: word.slice(1) } : { text: word };
}

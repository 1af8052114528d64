// nats-server's configuration as people write it: short things on one line, subjects below each
// other. Pure.

type Plain = string | number | boolean | readonly Plain[] | PlainObject;
interface PlainObject {
  readonly [key: string]: Plain;
}

const WIDTH = 100;
/** A word of the language, or a variable of the server's environment. */
const BARE = /^(?:[A-Za-z][A-Za-z0-9_-]*|\$[A-Z][A-Z0-9_]*)$/;
/** Words that NATS does not take for text. */
const TRUTH = /^(?:true|false|yes|no|on|off)$/i;

/** The entries of the outermost object, without braces around them. */
export const configText = (config: object): string =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON can say
  `${entries(config as PlainObject, 0).join('\n')}\n`;

function entries(object: PlainObject, depth: number): readonly string[] {
  return Object.entries(object).map(([key, value]) => {
    const name = BARE.test(key) ? key : JSON.stringify(key);
    const sign = isObject(value) ? ' ' : ': ';
    return `${pad(depth)}${name}${sign}${written(value, depth, name.length + sign.length)}`;
  });
}

function written(value: Plain, depth: number, before: number): string {
  const short = onOneLine(value);
  if (depth * 2 + before + short.length <= WIDTH && !(isObject(value) && depth < 3)) return short;
  if (isList(value)) {
    const rows = value.map((one) => `${pad(depth + 1)}${written(one, depth + 1, 0)}`);
    return `[\n${rows.join('\n')}\n${pad(depth)}]`;
  }
  if (!isObject(value)) return short;
  return `{\n${entries(value, depth + 1).join('\n')}\n${pad(depth)}}`;
}

function onOneLine(value: Plain): string {
  if (isList(value)) return `[${value.map(onOneLine).join(', ')}]`;
  if (isObject(value)) {
    const rows = Object.entries(value).map(([key, one]) => `${key}: ${onOneLine(one)}`);
    return `{ ${rows.join(', ')} }`;
  }
  const isBare = typeof value === 'string' && BARE.test(value) && !TRUTH.test(value);
  return isBare ? value : JSON.stringify(value);
}

const pad = (depth: number): string => '  '.repeat(depth);
const isList = (value: Plain): value is readonly Plain[] => Array.isArray(value);
const isObject = (value: Plain): value is PlainObject =>
  typeof value === 'object' && !isList(value);

// Reads a media type by the grammar of RFC 9110 instead of comparing strings: case, spaces,
// parameters and structured suffixes (`+json`) mean what they mean. Results are remembered, since
// senders repeat themselves.

export interface MediaType {
  /** Lower case, without parameters: `application/json`. */
  readonly essence: string;
  readonly isJson: boolean;
  readonly isText: boolean;
  /** Lower case; undefined when the sender did not say. */
  readonly charset: string | undefined;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const ESSENCE = new RegExp(`^[ \\t]*(${TOKEN}/${TOKEN})[ \\t]*`);
const PARAMETER = new RegExp(
  `^;[ \\t]*(?:(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")[ \\t]*)?`,
);
/** A cluster has a handful of media types; whoever sends more than this pays for each parse. */
const REMEMBERED_MAX = 64;
/** Real media types are shorter; no longer text from outside is remembered. */
const REMEMBERED_LENGTH_MAX = 256;
const remembered = new Map<string, MediaType>();

/** Undefined when the text is not a media type at all. */
export function parseMediaType(text: string): MediaType | undefined {
  const known = remembered.get(text);
  if (known !== undefined) return known;
  const parsed = parse(text);
  const isKept = text.length <= REMEMBERED_LENGTH_MAX && remembered.size < REMEMBERED_MAX;
  if (parsed !== undefined && isKept) remembered.set(text, parsed);
  return parsed;
}

function parse(text: string): MediaType | undefined {
  const head = ESSENCE.exec(text);
  if (head?.[1] === undefined) return undefined;
  const essence = head[1].toLowerCase();
  let rest = text.slice(head[0].length);
  let charset: string | undefined;
  while (rest !== '') {
    const parameter = PARAMETER.exec(rest);
    if (parameter === null) return undefined;
    if (parameter[1]?.toLowerCase() === 'charset') {
      charset ??= (parameter[2] ?? parameter[3] ?? '').toLowerCase();
    }
    rest = rest.slice(parameter[0].length);
  }
  const isJson = /[/+]json$/.test(essence);
  return { essence, isJson, isText: essence.startsWith('text/') && !isJson, charset };
}

// As much XML as the answers of S3 need, which are small and flat: the text of an element by its
// name, and the elements of a list. Pure.

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

/** The text of the first element of this name; undefined when there is none. */
export function textIn(xml: string, name: string): string | undefined {
  const found = elementsIn(xml, name)[0];
  return found === undefined ? undefined : unescaped(found);
}

/** Each with what is in it, as it is written. */
export function elementsIn(xml: string, name: string): readonly string[] {
  const pattern = new RegExp(`<${name}(?:\\s[^>]*)?>([^]*?)</${name}>`, 'g');
  return [...xml.matchAll(pattern)].map(([, inner = '']) => inner);
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex, dec, name) => {
    if (typeof name === 'string') return NAMED[name] ?? whole;
    const code = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(dec);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

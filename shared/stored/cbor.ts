// Reads CBOR (RFC 8949) as far as the API server writes it: maps, arrays, strings (which it writes
// as byte strings), numbers, booleans, null, tags. Whatever is cut off or nests too deeply throws.

/** The API server takes no object that nests deeper. */
const DEPTH_MAX = 512;
const INDEFINITE = 31;
const BREAK = 0xff;
/** As the API server, it takes no text that is not. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function decodeCbor(bytes: Uint8Array): unknown {
  const reader = new Reader(bytes);
  const value = reader.item(0);
  if (reader.at !== bytes.length) throw new Error(`${bytes.length - reader.at} bytes too many`);
  return value;
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  item(depth: number): unknown {
    if (depth > DEPTH_MAX) throw new Error(`it nests deeper than ${DEPTH_MAX}`);
    const first = this.#byte();
    const major = first >> 5;
    const info = first & 31;
    if (major === 7) return this.#simple(info);
    if (info === INDEFINITE) return this.#indefinite(major, depth);
    const argument = this.#argument(info);
    switch (major) {
      case 0:
        return argument;
      case 1:
        return -1 - argument;
      case 2:
      case 3:
        return this.#text(argument);
      case 4:
        return this.#array(argument, depth);
      case 5:
        return this.#map(argument, depth);
      default:
        // A tag says how its item is to be understood; its number does not change what it holds.
        return this.item(depth + 1);
    }
  }

  #indefinite(major: number, depth: number): unknown {
    if (major === 4) return this.#array(Infinity, depth);
    if (major === 5) return this.#map(Infinity, depth);
    if (major !== 2 && major !== 3) throw new Error(`a byte that cannot be at ${this.at - 1}`);
    let text = '';
    while (!this.#isBreak()) text += String(this.item(depth + 1));
    return text;
  }

  #array(count: number, depth: number): unknown[] {
    const items: unknown[] = [];
    while (this.#goesOn(items.length, count)) {
      items.push(this.item(depth + 1));
    }
    return items;
  }

  #map(count: number, depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    while (this.#goesOn(entries.size, count)) {
      const key = this.item(depth + 1);
      if (typeof key !== 'string') throw new Error(`a key that is no text before ${this.at}`);
      // The API server refuses it; another decoder would take the last one, or the first.
      if (entries.has(key)) throw new Error(`a key that was there already before ${this.at}`);
      entries.set(key, this.item(depth + 1));
    }
    return Object.fromEntries(entries);
  }

  #simple(info: number): unknown {
    if (info === 20 || info === 21) return info === 21;
    if (info === 22 || info === 23) return null;
    const size = info === 25 ? 2 : info === 26 ? 4 : info === 27 ? 8 : 0;
    const at = this.#take(size);
    if (size === 4) return this.#view.getFloat32(at);
    if (size === 8) return this.#view.getFloat64(at);
    // Nothing that is asked of a stored object is half a float.
    if (size === 2) return Number.NaN;
    throw new Error(`a simple value that JSON has not, before ${this.at}`);
  }

  #argument(info: number): number {
    if (info < 24) return info;
    if (info > 27) throw new Error(`a length that cannot be, before ${this.at}`);
    const at = this.#take(2 ** (info - 24));
    if (info === 24) return this.#view.getUint8(at);
    if (info === 25) return this.#view.getUint16(at);
    if (info === 26) return this.#view.getUint32(at);
    return Number(this.#view.getBigUint64(at));
  }

  #text(length: number): string {
    const at = this.#take(length);
    return UTF8.decode(this.#bytes.subarray(at, at + length));
  }

  #goesOn(done: number, count: number): boolean {
    return count === Infinity ? !this.#isBreak() : done < count;
  }

  #isBreak(): boolean {
    if (this.#bytes[this.at] !== BREAK) return false;
    this.at += 1;
    return true;
  }

  #byte(): number {
    return this.#view.getUint8(this.#take(1));
  }

  #take(length: number): number {
    const at = this.at;
    if (at + length > this.#bytes.length) throw new Error(`it ends within an item at ${at}`);
    this.at = at + length;
    return at;
  }
}

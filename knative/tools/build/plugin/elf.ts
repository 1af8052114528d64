// Puts data into a copy of a Linux program as a note that is loaded with it: that is where Node
// looks for the program that it is to be. The program's own code and data stay as they are; what is
// never loaded, such as symbols, is left out.

/** Header and program headers of a 64-bit ELF file, as its specification numbers them. */
const HEADER_BYTES = 64;
const ENTRY_BYTES = 56;
const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
const FIXED_PLACE = 2;
const LOAD = 1;
const NOTE = 4;
const TABLE = 6;
const READABLE = 4;

/** The largest pages that Linux has on the architectures that Node is published for. */
const PAGE_BYTES = 65_536;
const NOTE_TYPE = 0;
const NOTE_ALIGN_BYTES = 4;

interface Segment {
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly fileBytes: number;
  readonly memoryBytes: number;
  readonly alignBytes: number;
}

/** The content of the new file, in pieces; `program` itself is changed. */
export function withNote(program: Buffer, name: string, data: Buffer): readonly Buffer[] {
  const segments = segmentsOf(program);
  const loaded = segments.filter(({ type }) => type === LOAD);
  const notes = segments.filter(({ type }) => type === NOTE);
  const endOffset = Math.max(...loaded.map(({ offset, fileBytes }) => offset + fileBytes));
  const endAddress = Math.max(...loaded.map(({ address, memoryBytes }) => address + memoryBytes));
  const content = Buffer.concat([
    ...notes.map(({ offset, fileBytes }) =>
      padded(program.subarray(offset, offset + fileBytes), NOTE_ALIGN_BYTES),
    ),
    noteOf(name, data),
  ]);
  const place = {
    flags: READABLE,
    offset: alignUp(endOffset, PAGE_BYTES),
    address: alignUp(endAddress, PAGE_BYTES),
    fileBytes: content.length,
    memoryBytes: content.length,
  };
  // The table keeps its place and its length: the entry about the table itself, which programs at a
  // fixed place do without, makes room for the segment that has the notes.
  const kept = segments.filter(({ type }) => type !== TABLE && type !== NOTE);
  const last = kept.findLastIndex(({ type }) => type === LOAD) + 1;
  writeSegments(program, [
    ...kept.slice(0, last),
    { ...place, type: LOAD, alignBytes: PAGE_BYTES },
    ...kept.slice(last),
    { ...place, type: NOTE, alignBytes: NOTE_ALIGN_BYTES },
  ]);
  return [program.subarray(0, endOffset), Buffer.alloc(place.offset - endOffset), content];
}

function segmentsOf(program: Buffer): readonly Segment[] {
  if (!program.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Error(
      'This is no 64-bit program of Linux (ELF, little-endian): take Node for Linux.',
    );
  }
  const start = Number(program.readBigUInt64LE(32));
  const entryBytes = program.readUInt16LE(54);
  const segments = Array.from({ length: program.readUInt16LE(56) }, (_, index) =>
    segmentAt(program, start + index * entryBytes),
  );
  const has = (type: number): boolean => segments.some((segment) => segment.type === type);
  const isKnown = program.readUInt16LE(16) === FIXED_PLACE && entryBytes === ENTRY_BYTES;
  if (!isKnown || start !== HEADER_BYTES || !has(TABLE) || !has(NOTE)) {
    throw new Error('This program is laid out otherwise than Node is, and nothing is put into it.');
  }
  return segments;
}

function segmentAt(program: Buffer, at: number): Segment {
  const wordAt = (offset: number): number => Number(program.readBigUInt64LE(at + offset));
  return {
    type: program.readUInt32LE(at),
    flags: program.readUInt32LE(at + 4),
    offset: wordAt(8),
    address: wordAt(16),
    fileBytes: wordAt(32),
    memoryBytes: wordAt(40),
    alignBytes: wordAt(48),
  };
}

function writeSegments(program: Buffer, segments: readonly Segment[]): void {
  for (const [index, segment] of segments.entries()) {
    const at = HEADER_BYTES + index * ENTRY_BYTES;
    const { type, flags, offset, address, fileBytes, memoryBytes, alignBytes } = segment;
    program.writeUInt32LE(type, at);
    program.writeUInt32LE(flags, at + 4);
    const words = [offset, address, address, fileBytes, memoryBytes, alignBytes];
    for (const [word, value] of words.entries()) {
      program.writeBigUInt64LE(BigInt(value), at + 8 + 8 * word);
    }
  }
  program.writeUInt16LE(segments.length, 56);
  // The table of sections stood behind what is loaded.
  program.writeBigUInt64LE(0n, 40);
  program.writeUInt16LE(0, 60);
  program.writeUInt16LE(0, 62);
}

function noteOf(name: string, data: Buffer): Buffer {
  const nameBytes = Buffer.from(`${name}\0`);
  const header = Buffer.alloc(12);
  header.writeUInt32LE(nameBytes.length, 0);
  header.writeUInt32LE(data.length, 4);
  header.writeUInt32LE(NOTE_TYPE, 8);
  return Buffer.concat([
    header,
    padded(nameBytes, NOTE_ALIGN_BYTES),
    padded(data, NOTE_ALIGN_BYTES),
  ]);
}

const padded = (bytes: Buffer, align: number): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(alignUp(bytes.length, align) - bytes.length)]);

const alignUp = (value: number, align: number): number => Math.ceil(value / align) * align;

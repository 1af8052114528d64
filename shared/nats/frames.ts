// The bytes of a NATS server as lines and payloads, for a reader who trusts it with nothing: a line
// has an end, and a payload that is too large is let pass unread. Pure but for its buffers.

export interface FrameSink {
  line(text: string): Payload | undefined;
  /** Undefined when it was too large to be kept. */
  payload(of: Payload, bytes: Buffer | undefined): void;
  /** Bytes that are kept until a payload is whole. */
  kept(bytes: number): void;
}

/** The payload that a line announces. */
export interface Payload {
  readonly subscription: string;
  /** Bytes at its beginning that are headers. */
  readonly headerBytes: number;
  readonly bytes: number;
}

/** INFO of a server with hundreds of routes is some kilobytes. */
const LINE_BYTES_MAX = 65_536;
/** The answer of a server with some 7,000 streams and consumers. */
const PAYLOAD_BYTES_MAX = 8 * 2 ** 20;
const NEW_LINE = 10;
const LINE_END_BYTES = 2;

export class Frames {
  readonly #sink: FrameSink;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #payload: Payload | undefined;
  #chunks: Buffer[] = [];
  /** Bytes that are still to come of the payload and its line end. */
  #missing = 0;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  /** Throws when this cannot be a NATS server. */
  feed(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      rest =
        this.#payload === undefined ? this.#feedLine(rest) : this.#feedPayload(rest, this.#payload);
    }
  }

  #feedLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(NEW_LINE);
    const part = end === -1 ? bytes : bytes.subarray(0, end);
    this.#lineBytes += part.length;
    if (this.#lineBytes > LINE_BYTES_MAX) throw new Error('it sends a line without end');
    this.#line.push(part);
    if (end === -1) return bytes.subarray(bytes.length);
    const text = Buffer.concat(this.#line).toString().trimEnd();
    this.#line = [];
    this.#lineBytes = 0;
    this.#payload = this.#sink.line(text);
    this.#missing = (this.#payload?.bytes ?? 0) + LINE_END_BYTES;
    return bytes.subarray(end + 1);
  }

  #feedPayload(bytes: Buffer, payload: Payload): Buffer {
    const part = bytes.subarray(0, this.#missing);
    const isKept = payload.bytes <= PAYLOAD_BYTES_MAX;
    if (isKept) {
      this.#chunks.push(part);
      this.#sink.kept(part.length);
    }
    this.#missing -= part.length;
    if (this.#missing > 0) return bytes.subarray(bytes.length);
    const whole = isKept ? Buffer.concat(this.#chunks).subarray(0, payload.bytes) : undefined;
    this.#chunks = [];
    this.#payload = undefined;
    this.#sink.payload(payload, whole);
    return bytes.subarray(part.length);
  }
}

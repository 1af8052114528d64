// Looks at a stream without making it or changing it: for those who only show it.
import { Connection, type NatsOptions } from './connection.ts';
import { request } from './jetstream.ts';
import { orAbort } from '../or-abort.ts';

export class Peek {
  readonly #connection: Connection;

  constructor(options: NatsOptions) {
    this.#connection = new Connection(options);
  }

  /** The newest version of the stream. */
  async lastSequence(stream: string, signal: AbortSignal): Promise<number> {
    const nats = await orAbort(this.#connection.get(), signal);
    const subject = `$JS.API.STREAM.INFO.${stream}`;
    const info = await request<{ readonly state: { readonly last_seq: number } }>(
      nats,
      stream,
      { subject },
      signal,
    );
    return info.state.last_seq;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

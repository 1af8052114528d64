// How tests reach a NATS: the client takes no login from a url.
import type { ConnectionOptions } from 'nats';

/** Servers that elect a leader on a loaded machine take longer than the client's own second. */
export const ANSWER_WITHIN = { timeout: 30_000 } as const;

export function loginOf(url: string): ConnectionOptions {
  const { host, username: user, password: pass } = new URL(url);
  return { servers: host, ...(user === '' ? {} : { user, pass }) };
}

// The client takes no login from a url.
import type { ConnectionOptions } from 'nats';

export function loginOf(url: string): ConnectionOptions {
  const { host, username: user, password: pass } = new URL(url);
  return { servers: host, ...(user === '' ? {} : { user, pass }) };
}

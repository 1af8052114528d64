// Which connection between two parts goes through which proxy. Without proxies (the default) parts
// talk directly.
import { type Link, openLink } from '../process/link.ts';

export class Links {
  readonly #isEnabled: boolean;
  readonly #links = new Map<string, { client: string; server: string; link: Link }>();

  constructor(isEnabled: boolean) {
    this.#isEnabled = isEnabled;
  }

  /** The port on which `client` finds `server`. */
  async port(client: string, server: string, serverPort: number): Promise<number> {
    if (!this.#isEnabled) return serverPort;
    const key = `${client} ${server}`;
    const known = this.#links.get(key);
    if (known !== undefined) return known.link.port;
    const link = await openLink(serverPort);
    this.#links.set(key, { client, server, link });
    return link.port;
  }

  /** Every link of the part `name`, or only those between `name` and `other`. */
  between(name: string, other?: string): readonly Link[] {
    const isMeant = (client: string, server: string): boolean =>
      [client, server].includes(name) && (other === undefined || [client, server].includes(other));
    const found = [...this.#links.values()].filter(({ client, server }) => isMeant(client, server));
    if (found.length === 0) {
      throw new Error(
        `no proxied connection of ${[name, other].join(' ').trim()}: start the plane with links`,
      );
    }
    return found.map(({ link }) => link);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#links.values()].map(({ link }) => link.close()));
  }
}

// The API servers of a cluster one by one, each by the address under which it lists itself: what is
// to be true of all of them cannot be asked through a load balancer.
import type { KubeClient } from './client.ts';
import { isKubeError } from './errors.ts';
import type { KubeObject } from './objects.ts';
import { announces, type StoredKind } from './storage-version.ts';

export interface ServersOptions {
  /** Any of them, to be asked for the others. */
  readonly kube: KubeClient;
  readonly openServer: OpenServer;
  readonly signal?: AbortSignal | undefined;
}

/** One API server of several, by its own address. */
export type OpenServer = (url: string) => KubeClient;

/** In the certificate of every API server, whatever its address. */
export const SERVERNAME = 'kubernetes.default.svc';

const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
/** Where the API servers list themselves. */
const SERVICE = {
  namespace: 'default',
  labelSelector: 'kubernetes.io/service-name=kubernetes',
} as const;
/** A server that hangs must not take the whole request with it. */
const ASK_TIMEOUT_MS = 3_000;

interface Server {
  readonly name: string;
  readonly kube: KubeClient;
  readonly close?: () => Promise<void>;
}

export class ApiServers {
  readonly #servers: readonly Server[];

  private constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  /** The one that we speak with when there is no other. */
  static async find({ kube, openServer, signal }: ServersOptions): Promise<ApiServers> {
    const { items } = await kube.list(SLICES, { ...SERVICE, signal });
    const urls = items.flatMap(urlsIn);
    if (urls.length < 2) return new ApiServers([{ name: 'The API server', kube }]);
    const servers = urls.map((url) => {
      const own = openServer(url);
      return { name: `The API server at ${url}`, kube: own, close: () => own.close() };
    });
    return new ApiServers(servers);
  }

  /** Which of them does not announce that it stores this version; undefined when all do. */
  async lacking(stored: StoredKind, signal?: AbortSignal): Promise<string | undefined> {
    const answers = this.#servers.map((server) => lackingIn(server, stored, signal));
    return (await Promise.all(answers)).find((one) => one !== undefined);
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map(async (one) => one.close?.()));
  }
}

async function lackingIn(
  { name, kube }: Server,
  stored: StoredKind,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    if (await announces(kube, stored, { signal, timeoutMs: ASK_TIMEOUT_MS })) return undefined;
    return `${name} does not announce ${stored.version} as what it stores.`;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return `${name} cannot be asked what it stores: ${error.message}`;
  }
}

/** `https://10.0.0.1:6443`, for each endpoint of the slice. */
export function urlsIn(slice: KubeObject): readonly string[] {
  // The API server holds slices to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { endpoints, ports, addressType } = slice as unknown as {
    readonly addressType: string;
    readonly endpoints: readonly { readonly addresses: readonly string[] }[] | null;
    readonly ports: readonly { readonly port?: number }[] | null;
  };
  const port = ports?.[0]?.port ?? 443;
  const host = (address: string): string => (addressType === 'IPv6' ? `[${address}]` : address);
  return (endpoints ?? []).flatMap(({ addresses }) =>
    addresses.map((address) => `https://${host(address)}:${port}`),
  );
}

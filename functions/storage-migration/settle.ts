// Whether the flip of the stored version has come everywhere. Discovery says what an API server
// announces, and may run ahead of what it writes for a moment: so every one of them has to announce
// the current version, and to have done so for a while.
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject } from '../../shared/kube/objects.ts';
import type { Doors } from './doors.ts';
import { type Target, saysStored, servedResource } from './target.ts';

const POLL_MS = 250;

/** Undefined once it is so; what is lacking when this request may not wait any longer. */
export async function awaitSettled(
  doors: Doors,
  target: Target,
  endsAtMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clock, settleMs } = doors;
  const servers = await openServers(doors, signal);
  try {
    for (let sinceMs: number | undefined; ;) {
      const lacking = await firstLacking(servers, target, signal);
      const nowMs = clock.nowMs();
      sinceMs = lacking === undefined ? (sinceMs ?? nowMs) : undefined;
      if (sinceMs !== undefined && nowMs - sinceMs >= settleMs) return undefined;
      if (nowMs > endsAtMs) return lacking ?? 'All API servers agree only since a moment ago.';
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await Promise.all(servers.map(async (one) => one.close?.()));
  }
}

interface Server {
  readonly name: string;
  readonly kube: KubeClient;
  readonly close?: () => Promise<void>;
}

const SLICES = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' } as const;
/** Where the API servers list themselves. */
const SERVICE = {
  namespace: 'default',
  labelSelector: 'kubernetes.io/service-name=kubernetes',
} as const;

/** Each API server by its own address; the one that we speak with when there is no other. */
async function openServers(doors: Doors, signal: AbortSignal): Promise<readonly Server[]> {
  const { items } = await doors.kube.list(SLICES, { ...SERVICE, signal });
  const urls = items.flatMap(urlsIn);
  if (urls.length < 2) return [{ name: 'The API server', kube: doors.kube }];
  return urls.map((url) => {
    const kube = doors.openServer(url);
    return { name: `The API server at ${url}`, kube, close: () => kube.close() };
  });
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

async function firstLacking(
  servers: readonly Server[],
  target: Target,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const { name, kube } of servers) {
    try {
      if (!saysStored(await servedResource(kube, target.ref, signal), target)) {
        return `${name} does not announce ${target.version} as what it stores.`;
      }
    } catch (error) {
      if (!isKubeError(error)) throw error;
      return `${name} cannot be asked what it stores: ${error.message}`;
    }
  }
  return undefined;
}

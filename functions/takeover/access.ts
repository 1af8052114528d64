// How members are reached: old ones at the addresses of their pods, under the names that their
// certificates have, as their operator did; new ones under the name that clients know, as a client
// that trusts whom it trusted before. Pure.
import { CLIENT_PORT } from '../../shared/api/etcd-names.ts';
import type { EtcdEndpoint } from '../../shared/etcd/admin/gateway.ts';
import type { EtcdTls } from '../../shared/etcd/tls.ts';
import { clientHostOf, type LegacyEtcd, memberHostOf } from './legacy.ts';
import type { FoundPod, State } from './state.ts';

export interface Access {
  readonly endpoints: readonly EtcdEndpoint[];
  readonly tls: EtcdTls | undefined;
}

export type Known = Pick<State, 'legacy' | 'secrets'>;

export const accessToOld = (known: Known, pods: readonly Pick<FoundPod, 'name' | 'ip'>[]): Access =>
  accessTo(known, pods, (legacy, { name }) => memberHostOf(legacy, name));

export const accessToNew = (known: Known, pods: readonly Pick<FoundPod, 'ip'>[]): Access =>
  accessTo(known, pods, clientHostOf);

/** To nobody, where a part of what is shown is missing: nothing goes out in the clear instead. */
function accessTo<Pod extends Pick<FoundPod, 'ip'>>(
  { legacy, secrets }: Known,
  pods: readonly Pod[],
  hostOf: (legacy: LegacyEtcd, pod: Pod) => string,
): Access {
  const tls = legacy && tlsOf(legacy, secrets);
  if (legacy === undefined || (legacy.tls !== undefined && tls === undefined)) {
    return { endpoints: [], tls };
  }
  const endpoints = pods.flatMap((pod) => {
    if (pod.ip === undefined) return [];
    const at = addressOf(pod.ip);
    if (tls === undefined) return { url: `http://${at}` };
    return { url: `https://${at}`, serverName: hostOf(legacy, pod) };
  });
  return { endpoints, tls };
}

const addressOf = (host: string): string =>
  `${host.includes(':') ? `[${host}]` : host}:${CLIENT_PORT}`;

/** As another program reaches it, which knows it by its URL alone. */
export const oldUrl = (legacy: LegacyEtcd, name: string, ip: string): string =>
  legacy.tls === undefined
    ? `http://${addressOf(ip)}`
    : `https://${addressOf(memberHostOf(legacy, name))}`;

/** As the operator connects; undefined while a part of it is missing. */
function tlsOf({ tls }: LegacyEtcd, secrets: State['secrets']): EtcdTls | undefined {
  const secret = tls === undefined ? undefined : secrets.get(tls.operatorSecret);
  if (tls === undefined || secret?.is !== 'found') return undefined;
  const { certificate, key, authority } = tls.keys;
  const { [certificate]: cert, [key]: own, [authority]: ca } = secret.data;
  return cert === undefined || own === undefined || ca === undefined
    ? undefined
    : { ca, cert, key: own };
}

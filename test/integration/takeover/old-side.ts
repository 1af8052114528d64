// The old side of a takeover by snapshot and restore, for each operator: three members, with or
// without TLS, and what the operator left of them in the API server.
import type { OperatorPlace } from '../../../knative/tools/rights/takeover.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { ResourceRef } from '../../../shared/kube/objects.ts';
import { AENIX_ETCDS, LEGACY_ETCDS } from '../../../shared/api/takeover.ts';
import { AenixEtcd, defineAenixEtcd } from '../../builders/aenix-etcd.ts';
import { defineLegacyEtcd, LegacyEtcd } from '../../builders/legacy-etcd.ts';
import { leaveWebhook } from '../../builders/legacy-kind.ts';
import { type OldPod, oldPods } from '../../builders/old-pods.ts';
import { LegacyTls, type TlsLayout } from './legacy-tls.ts';

export const namespace = 'shop';

export interface OldSide {
  readonly ref: ResourceRef;
  readonly members: readonly OldPod[];
  /** The program of its members, and where that has the JSON gateway. */
  readonly etcd: 'etcd-3-3' | 'etcd-previous';
  readonly gateway: '/v3beta' | '/v3';
  /** Beside those of each member, and those of TLS. */
  readonly flags: (member: OldPod) => readonly string[];
  readonly peers: 'http' | 'https';
  /** Undefined without TLS. */
  readonly tls: LegacyTls | undefined;
  /** That of the clients. */
  readonly service: string;
  readonly labelSelector: string;
  /** They stay. */
  readonly claims: readonly string[];
  readonly operator: OperatorPlace;
  /** The object, and all that its operator made for it. */
  readonly leave: (kube: KubeClient) => Promise<void>;
  readonly takeOver: (kube: KubeClient, name: string, into: object) => Promise<void>;
}

const tlsOf = (isSecret: boolean, members: readonly OldPod[], layout: TlsLayout) =>
  isSecret
    ? new LegacyTls(
        namespace,
        members.map(({ ip }) => ip),
        layout,
      )
    : undefined;

const OF_COREOS: TlsLayout = {
  service: 'old-client',
  headless: 'old',
  isOfPeers: true,
  spec: {
    TLS: {
      static: {
        member: { peerSecret: 'etcd-peer-tls', serverSecret: 'etcd-server-tls' },
        operatorSecret: 'etcd-client-tls',
      },
    },
  },
  secrets: (members, client) => ({
    'etcd-server-tls': {
      'server.crt': members.cert,
      'server.key': members.key,
      'server-ca.crt': members.ca,
    },
    'etcd-client-tls': {
      'etcd-client.crt': client.cert,
      'etcd-client.key': client.key,
      'etcd-client-ca.crt': client.ca,
    },
  }),
};

/** Bare pods, the first without a claim. */
export function coreosSide(isSecret: boolean): OldSide {
  const members = oldPods(['old-a', 'old-b', 'old-c'], `old.${namespace}.svc`);
  const tls = tlsOf(isSecret, members, OF_COREOS);
  const of = (kube: KubeClient) => new LegacyEtcd(kube, namespace, 'old');
  return {
    ref: LEGACY_ETCDS,
    members,
    etcd: 'etcd-3-3',
    gateway: '/v3beta',
    flags: () => [],
    peers: isSecret ? 'https' : 'http',
    tls,
    service: 'old-client',
    labelSelector: 'etcd_cluster=old',
    claims: ['old-b', 'old-c'],
    operator: { namespace, name: 'etcd-operator' },
    leave: async (kube) => {
      await defineLegacyEtcd(kube);
      const pods = members.map(({ name, ip }, at) => ({
        name,
        ip,
        ...(at === 0 ? {} : { claim: name }),
      }));
      await of(kube).create(pods, tls?.spec);
    },
    takeOver: (kube, name, into) => of(kube).takeOver(name, { into }),
  };
}

const OF_AENIX: TlsLayout = {
  service: 'old',
  headless: 'old-headless',
  isOfPeers: false,
  spec: {
    security: {
      tls: {
        serverSecret: 'etcd-server-tls',
        clientSecret: 'etcd-client-tls',
        clientTrustedCASecret: 'etcd-client-ca',
      },
    },
  },
  secrets: (members, client) => ({
    'etcd-server-tls': { 'tls.crt': members.cert, 'tls.key': members.key, 'ca.crt': members.ca },
    'etcd-client-tls': { 'tls.crt': client.cert, 'tls.key': client.key, 'ca.crt': client.ca },
    'etcd-client-ca': { 'ca.crt': client.ca },
  }),
};

/** The pods of a StatefulSet, and an operator of all namespaces whose webhooks are dead. */
export function aenixSide(isSecret: boolean): OldSide {
  const members = oldPods(['old-0', 'old-1', 'old-2'], `old-headless.${namespace}.svc`);
  const tls = tlsOf(isSecret, members, OF_AENIX);
  const operator = { namespace: 'operators', name: 'etcd-operator' };
  const of = (kube: KubeClient) => new AenixEtcd(kube, namespace, 'old');
  return {
    ref: AENIX_ETCDS,
    members,
    etcd: 'etcd-previous',
    gateway: '/v3',
    flags: ({ ip }) => [
      '--peer-auto-tls',
      `--listen-metrics-urls=http://${ip}:2381`,
      '--auto-compaction-retention=5m',
      '--snapshot-count=10000',
    ],
    peers: 'https',
    tls,
    service: 'old',
    labelSelector: 'app.kubernetes.io/instance=old,app.kubernetes.io/managed-by=etcd-operator',
    claims: ['data-old-0', 'data-old-1', 'data-old-2'],
    operator,
    leave: async (kube) => {
      await defineAenixEtcd(kube);
      await of(kube).create(members.length, tls?.spec);
      for (const { name, ip } of members) await of(kube).runs(name, ip);
      await leaveWebhook(kube, AENIX_ETCDS);
    },
    takeOver: (kube, name, into) => of(kube).takeOver(name, { into }, operator),
  };
}

// EtcdPeers written by a test: as shipped, the account of etcd-cluster alone may write one, so the
// policy that says so is taken off for the test.
import { ETCD_PEERS } from '../../shared/api/etcd-peer.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import { SHIPPED } from './shipped.ts';
import { until } from './versioned-kind.ts';

const BINDINGS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingadmissionpolicybindings',
} as const;
const NAME = 'ballast-etcd-peer-writers';

/** The least that an EtcdPeer has. */
export const PEER_SPEC = {
  cluster: 'main',
  ordinal: 0,
  bootstrap: {
    state: 'New',
    token: 'c1',
    initialCluster: [{ name: 'main-0', url: 'http://main-0-0.main-headless.default.svc:2380' }],
  },
  running: true,
  image: 'quay.io/coreos/etcd:v3.6.16',
  storage: { medium: 'Volume', size: '10Gi' },
  tls: { clients: { mode: 'None' }, peers: { mode: 'None' } },
  quota: '2Gi',
  compaction: { mode: 'None' },
  heartbeatMilliseconds: 100,
  electionMilliseconds: 1_000,
  snapshotCount: 10_000,
  resources: {},
  spread: 'Preferred',
};

export const peerManifest = (namespace: string, name: string, spec: object = PEER_SPEC) => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'EtcdPeer',
  metadata: { namespace, name },
  spec,
});

export async function letPeersBeWritten(kube: KubeClient): Promise<void> {
  const because = 'the test is the only one here';
  await kube.delete(BINDINGS, { name: NAME }, { precondition: 'none', because });
  // A policy holds for a moment after it is gone.
  await until('EtcdPeers to be taken', () => mayWrite(kube));
}

/** As it was shipped. */
export async function letNobodyWritePeers(kube: KubeClient): Promise<void> {
  const shipped = SHIPPED.find(
    ({ object: { kind, metadata } }) =>
      kind === 'ValidatingAdmissionPolicyBinding' && metadata.name === NAME,
  );
  if (shipped === undefined) throw new Error(`${NAME} is not shipped`);
  await kube.apply(BINDINGS, shipped.object, { force: true });
  await until('EtcdPeers to be refused', async () => !(await mayWrite(kube)));
}

async function mayWrite(kube: KubeClient): Promise<boolean> {
  try {
    await kube.create(ETCD_PEERS, peerManifest('default', 'tried-0'), { dryRun: true });
    return true;
  } catch (error) {
    if (!isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN')) throw error;
    return false;
  }
}

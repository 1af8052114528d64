// A server's pod and claim at rest, for the unit tests of whatever keeps servers in pods: each test
// says only what differs.
import type { Claim } from '../../../shared/stateful/claims.ts';
import type { Pod } from '../../../shared/stateful/pods.ts';

export const NOW_MS = Date.parse('2026-01-02T00:00:00Z');

/** The object that they are made for. */
export const OWNER = {
  apiVersion: 'example.org/v1',
  kind: 'Database',
  name: 'db',
  namespace: 'shop',
  uid: 'u1',
  labels: {},
};

export const pod = (name: string, differences: Partial<Pod> = {}): Pod => ({
  name,
  uid: `pod-${name}`,
  resourceVersion: '7',
  ip: '10.0.0.1',
  isReady: true,
  isEnding: false,
  templateHash: 'template',
  placelessSince: undefined,
  trouble: undefined,
  crash: undefined,
  unreadySince: '2026-01-01T00:00:00Z',
  ...differences,
});

export const claimName = (server: string): string => `data-${server}`;

export const claim = (server: string, differences: Partial<Claim> = {}): Claim => ({
  name: claimName(server),
  uid: `claim-${server}`,
  phase: 'Bound',
  size: '10Gi',
  storageClassName: 'standard',
  accessMode: 'ReadWriteOncePod',
  createdAt: '2026-01-01T00:00:00Z',
  node: undefined,
  volume: `volume-${server}`,
  isEnding: false,
  ...differences,
});

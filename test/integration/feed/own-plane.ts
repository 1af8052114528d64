// A plane of a file's own, with our definitions on it, for tests that kill its parts or fill it. To
// read all manifests costs a third of a second, which files that share a plane need not pay.
import { afterAll, beforeAll } from 'vitest';
import type { Plane } from '../../../knative/try/local/plane/plane.ts';
import { type Shipped, startShipped } from '../../builders/shipped.ts';

export function withOwnPlane(): () => Plane {
  let shipped: Shipped | undefined;

  beforeAll(async () => {
    shipped = await startShipped(['etcd', 'kube-apiserver', 'nats-server']);
  });

  afterAll(async () => {
    await shipped?.stop();
  });

  return () => {
    if (shipped === undefined) throw new Error('there is no control plane');
    return shipped.plane;
  };
}

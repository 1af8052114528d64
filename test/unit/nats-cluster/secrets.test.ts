// Secrets that have the names of ours: those of others are neither used nor written over.
import { expect, test } from 'vitest';
import { readSecrets } from '../../../functions/nats-cluster/secrets.ts';
import { KubeModel } from './model/kube-model.ts';
import { cluster } from './samples.ts';

const SECRETS = { group: '', version: 'v1', resource: 'secrets' };
const OWN = cluster({ spec: { tls: { clients: {} } } });

async function read(kube: KubeModel) {
  const door = { kube: kube.client, nowMs: Date.now(), signal: new AbortController().signal };
  return readSecrets(door, OWN);
}

/** All that we make is there. */
async function made(): Promise<KubeModel> {
  const kube = new KubeModel();
  for (;;) {
    const { toMake } = await read(kube);
    if (toMake === undefined) return kube;
    kube.put(toMake.ref, toMake.manifest);
  }
}

const at = (suffix: string) => ({ namespace: 'shop', name: `nats${suffix}` });

test.each(['-system', '-user', '-tls'])(
  'Secret nats%s of a NatsCluster that is gone is not used: it goes too',
  async (suffix) => {
    const kube = await made();
    const ownerReferences = [{ kind: 'NatsCluster', name: 'nats', uid: 'former' }];
    kube.change(SECRETS, at(suffix), { metadata: { ownerReferences } });
    const { lacking, toMake, credentials } = await read(kube);
    expect(lacking?.reason).toBe('NameTaken');
    expect(lacking?.message).toContain(`Secret nats${suffix} is there already`);
    expect([toMake, credentials]).toEqual([undefined, undefined]);
  },
);

test("a user's own Secret nats-tls is not written over", async () => {
  const kube = await made();
  kube.remove(SECRETS, at('-tls'));
  const data = { 'tls.crt': 'bWluZQ==', 'tls.key': 'bWluZQ==', 'ca.crt': 'bWluZQ==' };
  kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: at('-tls'), data });
  const { lacking, toMake } = await read(kube);
  expect([lacking?.reason, toMake]).toEqual(['NameTaken', undefined]);
});

test.each([{ password: '' }, {}])(
  'a default user without a password (%j) is told, and not let in without one',
  async (data) => {
    const kube = await made();
    kube.put(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: at('-user'), data });
    const { lacking, credentials } = await read(kube);
    expect([lacking?.reason, credentials]).toEqual(['PasswordMissing', undefined]);
  },
);

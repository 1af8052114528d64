// The account of a backup's pod: one by whose identity there are keys, or none.
import { expect, test } from 'vitest';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { removalManifest } from '../../../functions/etcd-backup/schedule/render/removal.ts';
import type { S3Credentials } from '../../../shared/api/etcd-backup.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { backup, FACTS, SECRET } from './samples.ts';

const podOf = (manifest: Manifest) => Object(manifest['spec']).template.spec;

const podsWith = (credentials: S3Credentials) => {
  const own = backup({ spec: { target: { s3: { bucket: 'backups', credentials } } } });
  const taking = jobManifest(own, { endpoints: ['https://main.shop.svc:2379'] }, 'ours:1', SECRET);
  return [taking, removalManifest(own, FACTS, 'ours:1')].map(podOf);
};

test('with an account the pod has no keys, which its platform gives to it', () => {
  for (const pod of podsWith({ serviceAccountName: 'ballast-backup' })) {
    expect(pod).toMatchObject({
      serviceAccountName: 'ballast-backup',
      automountServiceAccountToken: false,
      containers: [{ env: [] }],
    });
  }
});

test('with keys it has none', () => {
  for (const pod of podsWith({ secretName: 's3' })) {
    expect(pod.serviceAccountName).toBeUndefined();
    expect(pod.containers[0].env).toHaveLength(3);
  }
});

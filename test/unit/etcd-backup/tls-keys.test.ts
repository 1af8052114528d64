// Certificates that have other names in their Secret than those of ours.
import { expect, test } from 'vitest';
import { jobManifest } from '../../../functions/etcd-backup/render/job.ts';
import { backup } from './samples.ts';

test('of such a Secret three entries are mounted under our names, and no more', () => {
  const keys = { certificate: 'client.pem', key: 'client.key', authority: 'root.pem' };
  const source = { endpoints: ['https://a:2379'], tls: { secretName: 'theirs', keys } };
  const { spec } = jobManifest(backup(), source, 'ours:1', 'secret') as { spec?: unknown };
  const items = [
    { key: 'client.pem', path: 'tls.crt' },
    { key: 'client.key', path: 'tls.key' },
    { key: 'root.pem', path: 'ca.crt' },
  ];
  expect(Object(spec).template.spec.volumes[0]).toEqual({
    name: 'tls',
    secret: { secretName: 'theirs', items },
  });
});

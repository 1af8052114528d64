// docs/upgrade.md, held against the installation: whoever goes back deletes every admission policy,
// since one that stays confines functions that know nothing of it. And the change of accounts that
// the page hands out is one that kubectl can send.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const REPO = join(import.meta.dirname, '../../..');
const FUNCTIONS = join(REPO, 'knative/functions');
// A shell reads on behind a backslash.
const page = readFileSync(join(REPO, 'docs/upgrade.md'), 'utf8').replaceAll(/ \\\n +/g, ' ');

function policyNames(): readonly string[] {
  const files = readdirSync(FUNCTIONS, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('validating-admission-policy.yaml'))
    .map((file) => parse(readFileSync(join(FUNCTIONS, file), 'utf8')).metadata.name);
}

test('the way back deletes every admission policy of the installation', () => {
  const [, names = ''] =
    /^kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy (.+)$/m.exec(
      page,
    ) ?? [];
  expect(names.split(' ').toSorted()).toEqual(policyNames().toSorted());
});

test('the change of accounts is JSON, with a writer and a reader of the feed', () => {
  const [, text = ''] = /patch natscluster nats --type=merge -p '([^']+)'/.exec(page) ?? [];
  const [streams, readers] = JSON.parse(text).spec.accounts;
  expect(streams.users).toContainEqual({ name: 'metadata', writes: streams.feeds });
  const reads = { feed: streams.feeds[0], scope: 'Cluster' };
  expect(readers.users).toContainEqual({ name: 'locate', reads });
});

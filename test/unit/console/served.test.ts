// The services of a pod in the log that browsers follow, by endpoint slices that come, change and
// go.
import { expect, test } from 'vitest';
import { PodLog } from '../../../functions/console/pod-log.ts';
import type { ObjectMessage } from '../../../shared/feed/messages.ts';
import type { Change } from '../../../shared/nats/replica/changes.ts';

const entry = (resource: string, name: string, object: Partial<ObjectMessage>) => ({
  subject: `node.n1.${resource}.${name}`,
  key: { resource, namespace: 'shop', name },
  object,
});

type Entry = ReturnType<typeof entry>;

const pod = (name: string): Entry =>
  entry('pods', name, { node: 'n1', ips: [], phase: 'Running', ready: true });

const slice = (name: string, service: string | undefined, ...pods: readonly string[]): Entry => {
  const endpoints = pods.map((one) => ({ ips: [], pod: { name: one, uid: one } }));
  return entry('endpointslices', name, { ...(service && { service }), endpoints });
};

class Followed {
  readonly log = new PodLog();

  say(type: 'added' | 'changed' | 'removed', now: Entry, previous?: Entry): void {
    this.log.apply({ type, version: 1, entry: now, previous } as unknown as Change);
  }

  /** The services of each pod. */
  get shown(): Record<string, string> {
    const { rows } = this.log.read('', 0);
    return Object.fromEntries(rows.map((row) => [row[2], row[6] ?? 'none told']));
  }
}

test('a pod has the services whose slices name it, whichever of the two comes first', () => {
  const followed = new Followed();
  followed.say('added', slice('web-4', 'web', 'a', 'b'));
  for (const name of ['a', 'b', 'c']) followed.say('added', pod(name));
  followed.say('added', slice('all-4', 'all', 'a', 'c'));
  expect(followed.shown).toEqual({ a: 'all web', b: 'web', c: 'all' });
});

test('of two slices of one service, as for two families, the last takes it away', () => {
  const followed = new Followed();
  followed.say('added', pod('a'));
  const both = [slice('web-4', 'web', 'a'), slice('web-6', 'web', 'a')] as const;
  for (const one of both) followed.say('added', one);
  followed.say('removed', both[0]);
  expect(followed.shown).toEqual({ a: 'web' });
  followed.say('changed', slice('web-6', 'web'), both[1]);
  expect(followed.shown).toEqual({ a: '' });
});

test('only pods whose services are others are told anew', () => {
  const followed = new Followed();
  for (const name of ['a', 'b']) followed.say('added', pod(name));
  const before = slice('web-4', 'web', 'a', 'gone');
  followed.say('added', before);
  const { id, next } = followed.log.read('', 0);
  followed.say('changed', slice('web-4', 'web', 'a', 'b'), before);
  followed.say('added', slice('nobodys', undefined, 'a'));
  expect(followed.log.read(id, next).rows.map((row) => [row[2], row[6]])).toEqual([['b', 'web']]);
});

test('a pod that is gone is not brought back by a slice', () => {
  const followed = new Followed();
  followed.say('added', pod('a'));
  followed.say('removed', pod('a'));
  followed.say('added', slice('web-4', 'web', 'a'));
  expect(followed.shown).toEqual({});
  followed.log.apply({ type: 'resync', version: 1, missed: 1 });
  followed.say('added', pod('a'));
  expect(followed.shown).toEqual({ a: '' });
});

// The annotation that lets members join old ones leads to those of one legacy cluster in the same
// namespace, and nowhere else.
import { expect, test } from 'vitest';
import {
  joinsIn,
  JOINS_ANNOTATION,
  joinsText,
  legacyNameOf,
  type OldMember,
} from '../../../shared/api/etcd-joins.ts';

const at = (name: string, url = `http://${name}.old.shop.svc:2380`): OldMember => ({ name, url });
const OLD = [at('old-0000'), at('old-0001'), at('old-0002')];

test('what is written is read again', () => {
  const text = joinsText(OLD, 'shop');
  expect(text).toBe(JSON.stringify(OLD));
  expect(joinsIn(JSON.stringify(OLD), 'shop')).toEqual(OLD);
  expect(OLD.map(legacyNameOf)).toEqual(['old', 'old', 'old']);
});

test.each<[why: string, text: string]>([
  ['no JSON', 'old-0000'],
  ['no list', '{"name":"old-0000"}'],
  ['no members', '[7]'],
  ['nobody', '[]'],
  ['eight', JSON.stringify(Array.from({ length: 8 }, (_, one) => at(`old-${one}`)))],
  ['more than seven could be', JSON.stringify([at('old-0000', `http://${'x'.repeat(3_000)}`)])],
  ['TLS', JSON.stringify([at('old-0000', 'https://old-0000.old.shop.svc:2380')])],
  ['a user', JSON.stringify([at('old-0000', 'http://me@old-0000.old.shop.svc:2380')])],
  ['another namespace', JSON.stringify([at('old-0000', 'http://old-0000.old.bank.svc:2380')])],
  ['another host', JSON.stringify([at('old-0000', 'http://old-0000.old.shop.svc.io:2380')])],
  ['an address', JSON.stringify([at('old-0000', 'http://169.254.169.254:2380')])],
  ['another port', JSON.stringify([at('old-0000', 'http://old-0000.old.shop.svc:80')])],
  ['a path', JSON.stringify([at('old-0000', 'http://old-0000.old.shop.svc:2380/x')])],
  ['no port', JSON.stringify([at('old-0000', 'http://old-0000.old.shop.svc')])],
  ['two legacy clusters', JSON.stringify([at('a'), at('b', 'http://b.other.shop.svc:2380')])],
  ['a member twice', JSON.stringify([at('old-0000'), at('old-0000')])],
  ['two names in one', JSON.stringify([at('a=http://x:1,b', 'http://a.old.shop.svc:2380')])],
])('refused: %s', (_, text) => {
  const refused = joinsIn(text, 'shop');
  expect(refused).toMatchObject({ reason: 'JoinsRefused' });
  expect(refused).toMatchObject({ message: expect.stringContaining(JOINS_ANNOTATION) });
});

test('what could not be read is not written', () => {
  expect(joinsText([at('old-0000', 'http://127.0.0.1:2380')], 'shop')).toMatchObject({
    reason: 'JoinsRefused',
  });
});

// The arguments of `npm run watch`: each kind of asking, and each kind of asking wrongly.
import { expect, test } from 'vitest';
import { watchOptions } from '../../../knative/try/local/watch/options.ts';

test.each([
  [['--node', 'n1'], { node: 'n1' }],
  [['--cluster'], 'cluster'],
  [['--namespace', 'a', '--namespace', 'b'], { namespaces: ['a', 'b'] }],
])('%j', (args, scope) => {
  expect(watchOptions(args)).toEqual({
    scope,
    natsUrl: undefined,
    planeDir: undefined,
    feed: 'cluster',
    isJson: false,
    isOnce: false,
  });
});

test('everything else that can be asked', () => {
  const args =
    '--cluster --json --once --feed f --nats nats://u:p@h:1 --plane /x --api-prefix $JS.API'.split(
      ' ',
    );
  expect(watchOptions(args)).toEqual({
    scope: 'cluster',
    natsUrl: 'nats://u:p@h:1',
    apiPrefix: '$JS.API',
    planeDir: '/x',
    feed: 'f',
    isJson: true,
    isOnce: true,
  });
  expect(watchOptions(['--help'])).toBeUndefined();
});

test('files that say how to get into NATS are read when they are used', () => {
  const args = '--cluster --tlsca package.json --creds nowhere.creds'.split(' ');
  const { access } = watchOptions(args) ?? {};
  expect(access?.from).toBe('package.json (ca.crt), nowhere.creds (nats.creds)');
  expect(() => access?.read()).toThrow('nowhere.creds');
  const { access: other } = watchOptions(args.slice(0, 3)) ?? {};
  expect(other?.read()['ca.crt']).toContain('"name": "ballast"');
});

test.each([
  [[], 'say what to watch'],
  [['--cluster', '--node', 'n'], 'exclude each other'],
  [['--node='], 'must not be empty'],
  [['--cluster', '--feed='], 'must not be empty'],
  [['--cluster', '--nats', 'localhost'], 'must be an address'],
  [['--cluster', '--nats', 'http://localhost'], 'must be an address'],
  [['--pod', 'x'], 'there is no option --pod'],
  [['everything'], 'nothing is known of "everything"'],
])('%j is refused', (args, why) => {
  expect(() => watchOptions(args)).toThrow(why);
});

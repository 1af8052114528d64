// Requests to `npm run cluster`, and the ways to ask it wrong.
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { readRequest } from '../../../knative/try/cluster/options.ts';
import { UsageError } from '../../../shared/arguments.ts';

const MAIN = resolve(import.meta.dirname, '../../../knative/try/cluster/main.ts');

test('nothing asked for is a cluster of one node with Knative', () => {
  const subnet = '10.213.0.0/16';
  const without = { withS3: false, withPrometheus: false };
  expect(readRequest([])).toEqual({ do: 'up', nodes: 1, subnet, withKnative: true, ...without });
  expect(readRequest(['--with-s3'])).toMatchObject({ withKnative: true, withS3: true });
  expect(readRequest(['--with-prometheus'])).toMatchObject({ withS3: false, withPrometheus: true });
});

test('nodes, network and what is left out can be chosen', () => {
  const args = ['--nodes', '3', '--subnet=10.7.0.0/16', '--without-knative'];
  const subnet = '10.7.0.0/16';
  expect(readRequest(args)).toMatchObject({ do: 'up', nodes: 3, subnet, withKnative: false });
});

test('logs are of a part or a pod', () => {
  const of = 'node-1/kubelet';
  expect(readRequest(['logs', of])).toEqual({ do: 'logs', of, subnet: undefined });
});

test.each([
  [['upp'], 'there is no command "upp"'],
  [['--nodes', '0'], '--nodes wants a whole number from 1 to 9, not "0"'],
  [['--nodes', '1.5'], '--nodes wants a whole number from 1 to 9, not "1.5"'],
  [['--subnet', '10.0.0.0/8'], '--subnet wants a private network of the form A.B.0.0/16'],
  [['down', '--nodes', '2'], '--nodes means nothing to down'],
  [['status', 'etcd'], 'nothing is known of "etcd"'],
  [['logs'], 'logs needs the name of a part or a pod'],
  [['logs', 'a', 'b'], 'nothing is known of "b"'],
  [['down', '--with-s3'], '--with-s3 means nothing to down'],
  [['--with-s3', '--without-knative'], '--with-s3 means nothing without Knative'],
  [['--with-prometheus', '--without-knative'], '--with-prometheus means nothing without Knative'],
  [['status', '--with-prometheus'], '--with-prometheus means nothing to status'],
  [['--fast'], 'there is no option --fast'],
])('%j is refused by name', (args, why) => {
  expect(() => readRequest(args)).toThrow(UsageError);
  expect(() => readRequest(args)).toThrow(why);
});

test('a wrong argument ends with 2 and a usage line', () => {
  const args = [MAIN, '--nodes', 'many'];
  const refused = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(refused.status).toBe(2);
  expect(refused.stderr).toContain('usage: npm run cluster');
  expect(refused.stdout).toBe('');
});

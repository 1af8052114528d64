// The rendering of a spec: the configuration that servers read, and how it differs.
import { createPublicKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { issue, makeAuthority } from '../../../shared/x509.ts';
import {
  configDigest,
  configText,
  natsConfig,
} from '../../../functions/nats-cluster/render/config.ts';
import { render } from '../../../functions/nats-cluster/render/manifests.ts';
import { accountsIn, passwordsIn } from '../../../functions/nats-cluster/render/read-back.ts';
import { versionIn } from '../../../functions/nats-cluster/version.ts';
import type { NatsClusterSpec, Rights } from '../../../shared/api/nats-cluster.ts';
import { cluster, CREDENTIALS } from './samples.ts';

const shape = { size: 3, accessMode: 'ReadWriteOncePod' } as const;
const rendered = (spec: Partial<NatsClusterSpec> = {}) =>
  render(cluster({ spec }), CREDENTIALS, shape);
const { templateHash } = rendered();

test.each<[string, Partial<NatsClusterSpec>]>([
  ['an image', { image: 'nats:2.15.3' }],
  ['resources', { resources: { limits: { memory: '2Gi' } } }],
  ['lame duck timing', { lameDuck: { graceSeconds: 11, durationSeconds: 30 } }],
  ['a monitoring port', { monitoringPort: 8223 }],
  ['spread', { spread: 'Required' }],
])('another %s needs another pod', (_, spec) => {
  expect(rendered(spec).templateHash).not.toBe(templateHash);
});

test.each<[string, Partial<NatsClusterSpec>]>([
  ['accounts', { accounts: [{ name: 'SHOP', jetStream: true, users: [] }] }],
  ['size', { jetStream: { fileStorage: { size: '20Gi' } } }],
  ['number of servers', { replicas: 5 }],
])('another %s changes the configuration alone', (_, spec) => {
  const other = rendered(spec);
  expect(other.templateHash).toBe(templateHash);
  expect(configText(other.config)).not.toBe(configText(rendered().config));
});

test('what does not concern the servers changes nothing', () => {
  const spec = { waive: [{ account: 'SHOP', stream: 'ORDERS' }], paused: true };
  expect(rendered(spec)).toEqual(rendered());
});

test('each server has a digest of its own', () => {
  const { config } = rendered();
  expect(configDigest(config, 'nats-0')).not.toBe(configDigest(config, 'nats-1'));
  expect(configDigest(config, 'nats-0')).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test.each([
  ['a"b\\c\u0001é<>&', String.raw`a\"b\\c\x01é<>&`],
  ['\b\f\n', String.raw`\x08\x0c\n`],
  // These six characters stay as they are written.
  [String.raw`\u0041\b`, String.raw`\\u0041\\b`],
])('a password keeps its odd characters (%j) in the way that NATS can read', (password, as) => {
  const users = [{ name: 'shop', passwordSecret: { name: 's', key: 'k' } }];
  const own = cluster({ spec: { accounts: [{ name: 'SHOP', jetStream: true, users }] } });
  const credentials = { ...CREDENTIALS, passwords: new Map([['shop', password]]) };
  const text = configText(natsConfig(own, credentials));
  expect(text).toContain(`"password":"${as}"`);
});

test.each([3, 1])('the passwords of %d servers are read back as they were', (replicas) => {
  const odd = 'a"b\\c\u0001é<>&\b\f\n\\u0041\\x41';
  const credentials = { ...CREDENTIALS, systemPassword: odd, routePassword: `${odd}2` };
  const text = configText(natsConfig(cluster({ spec: { replicas } }), credentials));
  const route = replicas === 1 ? undefined : `${odd}2`;
  expect(passwordsIn(text)).toEqual({
    system: odd,
    route,
    users: new Map([['default', 'default']]),
  });
  expect(passwordsIn('accounts: {')).toBeUndefined();
  expect(passwordsIn('port: 4222')).toBeUndefined();
});

test.each<[string, Rights, object]>([
  ['allow', { allow: [] }, { deny: ['>'] }],
  ['allow beside a deny', { allow: [], deny: ['a'] }, { deny: ['>'] }],
  ['deny', { allow: ['a'], deny: [] }, { allow: ['a'] }],
])('an empty list (%s) never means everything to a server', (_, rights, rendering) => {
  const permissions = { publish: rights, subscribe: rights, allowResponses: false };
  const users = [{ name: 'shop', passwordSecret: { name: 's', key: 'k' }, permissions }];
  const own = cluster({ spec: { accounts: [{ name: 'SHOP', jetStream: true, users }] } });
  const { accounts } = natsConfig(own, CREDENTIALS);
  expect(accounts).toMatchObject({
    SHOP: { users: [{ permissions: { publish: rendering, subscribe: rendering } }] },
  });
});

test('users of the global account stand outside of all others, and are read back', () => {
  const users = [{ name: 'web', passwordSecret: { name: 's', key: 'k' } }];
  const own = cluster({ spec: { accounts: [{ name: '$G', jetStream: true, users }] } });
  const credentials = { ...CREDENTIALS, passwords: new Map([['web', 'known']]) };
  const config = natsConfig(own, credentials);
  expect(config['authorization']).toEqual({ users: [{ user: 'web', password: 'known' }] });
  expect(Object.keys(Object(config['accounts']))).toEqual(['SYS']);
  const text = configText(config);
  expect(passwordsIn(text)?.users).toEqual(new Map([['web', 'known']]));
  expect([accountsIn(text), accountsIn(configText(rendered().config))]).toEqual([
    ['$G'],
    ['DEFAULT'],
  ]);
});

test('routes to others come behind our own, and tell nobody our password', () => {
  const { cluster: section } = rendered({ extraRoutes: ['10.0.0.1:6222'] }).config;
  const { routes } = section as unknown as { routes: readonly string[] };
  expect(routes).toHaveLength(4);
  expect(routes[3]).toBe('nats://10.0.0.1:6222');
});

test('servers tell the name of their object, or the one that they are to have', () => {
  const names = [{}, { clusterName: 'old' }].map((spec) =>
    Object(rendered(spec).config['cluster']),
  );
  expect(names.map(({ name }) => name)).toEqual(['nats', 'old']);
});

test('a single server has no cluster', () => {
  expect(natsConfig(cluster({ spec: { replicas: 1 } }), CREDENTIALS)['cluster']).toBeUndefined();
});

test.each([
  ['nats:2.15.2', '2.15.2'],
  ['nats:2.15.2-alpine', '2.15.2'],
  ['registry:5000/nats:v2.14', '2.14'],
  ['nats:2.15.2@sha256:00ff', '2.15.2'],
  ['nats:latest', undefined],
  ['nats', undefined],
])('image %s has version %s', (image, version) => {
  expect(versionIn(image)).toBe(version);
});

test('a certificate is for its names, from its authority, in its time', () => {
  const fromMs = Date.parse('2026-01-01T00:00:00Z');
  const authority = makeAuthority('Shop', { fromMs, toMs: Date.parse('2060-01-01T00:00:00Z') });
  const toMs = Date.parse('2026-04-01T00:00:00Z');
  const hosts = ['nats.shop.svc', '*.nats-headless.shop.svc'];
  const { certPem, keyPem } = issue(authority, { commonName: 'nats', hosts }, { fromMs, toMs });
  const parsed = new X509Certificate(certPem);
  const ca = new X509Certificate(authority.certPem);
  expect(parsed.verify(createPublicKey(authority.keyPem))).toBe(true);
  expect(parsed.checkIssued(ca)).toBe(true);
  expect(ca.ca).toBe(true);
  expect(ca.validToDate.getUTCFullYear()).toBe(2060);
  expect(parsed.checkHost('nats-2.nats-headless.shop.svc')).toBeDefined();
  expect(parsed.checkHost('nats.other.svc')).toBeUndefined();
  expect(parsed.validToDate.getTime()).toBe(toMs);
  expect(keyPem).toContain('PRIVATE KEY');
});

// The function as the API server meets it: over HTTP, and over TLS with a certificate that changes.
import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TlsFront } from '../../../functions/conversion/front.ts';
import { conversion } from '../../../functions/conversion/index.ts';
import { REVIEW_BYTES_MAX } from '../../../functions/conversion/routes.ts';
import { systemClock } from '../../../shared/clock.ts';
import { type RunningFunction, startFunction } from '../../../shared/function/start.ts';
import { type Identity, issue, makeAuthority } from '../../../shared/x509.ts';

const HOST = 'conversion.ballast-system.svc';
const HOUR_MS = 3_600_000;
let running: RunningFunction;

beforeAll(async () => {
  const environment = { PORT: '0', LISTEN_HOST: '127.0.0.1', DRAIN_MINIMUM_SECONDS: '0' };
  const build = { version: '0', commit: '' };
  running = await startFunction(conversion, { environment, build, log: pino({ level: 'silent' }) });
});

afterAll(() => running.stop());

const review = (objects: readonly unknown[]): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u-1', desiredAPIVersion: 'ballast.dev/v1beta1', objects },
  });

const migration = (name: string, payload = '') => ({
  apiVersion: 'ballast.dev/v1alpha1',
  kind: 'StorageMigration',
  metadata: { name, labels: { payload } },
  spec: { pause: true },
});

const post = (body: string | Buffer, type = 'application/json'): Promise<Response> =>
  fetch(`http://127.0.0.1:${running.port}/convert`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });

interface Answered {
  readonly response: {
    readonly convertedObjects: readonly { readonly spec: unknown }[];
    readonly result: unknown;
  };
}

test('500 objects of ten kilobytes are answered in one review', async () => {
  const payload = 'x'.repeat(10_000);
  const objects = Array.from({ length: 500 }, (_, index) => migration(`m${index}`, payload));
  const answer = await post(review(objects));
  expect(answer.status).toBe(200);
  const { response } = (await answer.json()) as Answered;
  expect(response.result).toEqual({ status: 'Success' });
  expect(response.convertedObjects).toHaveLength(500);
  expect(
    response.convertedObjects.every(({ spec }) => Object.hasOwn(spec as object, 'paused')),
  ).toBe(true);
});

test('an integer that no number holds is the same digit by digit', async () => {
  const cursor = '9007199254740993';
  const body = review([migration('one')]).replace('"pause":true', `"pause":true,"big":${cursor}`);
  expect(await (await post(body)).text()).toContain(`"big":${cursor}`);
});

test.each([
  ['no review', '{}', 422, 'REVIEW_INVALID'],
  ['no JSON', '{"kind"', 400, 'BODY_NOT_JSON'],
  ['nothing', '', 400, 'BODY_NOT_JSON'],
  ['what nests too deeply', `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 400, 'BODY_TOO_DEEP'],
  ['more values than fit', `[${'[],'.repeat(4_000_000)}[]]`, 413, 'BODY_TOO_LARGE'],
  ['more bytes than are taken', 'x'.repeat(REVIEW_BYTES_MAX + 1), 413, 'BODY_TOO_LARGE'],
])('%s is refused', async (_what, body, status, code) => {
  const answer = await post(body);
  expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
    status,
    code,
  });
});

test('what is called a file is refused', async () => {
  const answer = await post(review([]), 'application/octet-stream');
  expect(answer.status).toBe(415);
  expect(await answer.text()).toContain('send it with content-type: application/json');
});

describe('TLS', () => {
  const nowMs = systemClock.nowMs();
  const validity = { fromMs: nowMs - HOUR_MS, toMs: nowMs + HOUR_MS };
  const issued = (name: string): { readonly ca: string; readonly own: Identity } => {
    const authority = makeAuthority(name, validity);
    const own = issue(authority, { commonName: HOST, hosts: [HOST] }, validity);
    return { ca: authority.certPem, own };
  };
  const [first, second] = [issued('first'), issued('second')];
  const filesOf = ({ own }: typeof first) => ({ certificate: own.certPem, key: own.keyPem });
  let front: TlsFront;
  let port: number;

  beforeAll(async () => {
    front = new TlsFront(running.port);
    port = await front.listen(0);
  });

  afterAll(() => front.close());

  const converted = async (ca: string, socket?: TLSSocket): Promise<string> => {
    const body = review([migration('one')]);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const asked = request({
      port,
      servername: HOST,
      ca,
      method: 'POST',
      path: '/convert',
      headers,
      ...(socket === undefined ? { agent: false } : { createConnection: () => socket }),
    });
    asked.end(body);
    const [response] = await once(asked, 'response');
    return text(response);
  };

  test('without a certificate nobody is let in', async () => {
    await expect(converted(first.ca)).rejects.toThrow(/handshake failure|ECONNRESET|alert/);
  });

  test('reviews are answered, and a new certificate is for new connections', async () => {
    front.show(filesOf(first));
    expect(await converted(first.ca)).toContain('"paused":true');
    const kept = connect({ port, servername: HOST, ca: first.ca, host: '127.0.0.1' });
    await once(kept, 'secureConnect');
    front.show(filesOf(second));
    await expect(converted(first.ca)).rejects.toThrow('unable to verify the first certificate');
    expect(await converted(second.ca)).toContain('"paused":true');
    expect(await converted(first.ca, kept)).toContain('"paused":true');
  });

  test('who speaks no TLS, or goes away in the middle, ends nobody else', async () => {
    const plain = connectPlain(port, '127.0.0.1');
    plain.on('error', () => undefined);
    plain.end('POST /convert HTTP/1.1\r\n\r\n');
    await once(plain, 'close');
    const gone = connect({ port, servername: HOST, ca: second.ca, host: '127.0.0.1' });
    await once(gone, 'secureConnect');
    gone.write('POST /convert HTTP/1.1\r\ncontent-length: 1000000\r\n\r\n{');
    gone.destroy();
    await once(gone, 'close');
    expect(await converted(second.ca)).toContain('"paused":true');
  });
});

// Every malformed event of the table, sent over a real connection, gets its status, its code and
// the name of what is wrong, as a problem of RFC 9457; and the connection is good for the next
// one.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { errorTable } from '../../shared/errors.ts';
import { type MalformedRow, malformedRows } from '../fixtures/events/malformed.ts';
import { head, sendRaw } from './raw-http.ts';
import { type Started, eventHeaders, postEvent, started } from './started.ts';

let server: Started;

beforeAll(async () => {
  server = await started({});
});
afterAll(() => server.stop());

const bytesOf = (body: MalformedRow['body']): Buffer =>
  typeof body === 'string' ? Buffer.from(body, 'latin1') : Buffer.alloc(body.blanks, ' ');

it.each(malformedRows)('An event $name is refused with $status $code', async (row) => {
  const body = bytesOf(row.body);
  const length = ['content-length', String(body.length)] as const;
  const answer = await sendRaw(server.port, head([...row.headers, length]), body);
  expect(answer.headers['content-type']).toBe('application/problem+json');
  const problem = JSON.parse(answer.body) as Record<string, unknown>;
  const { status, code, field } = row;
  expect({ answered: answer.status, ...problem }).toMatchObject({
    answered: status,
    status,
    code,
    field,
  });
  expect(problem['title']).toBe(errorTable[code as keyof typeof errorTable].title);
  expect(problem['detail']).toMatch(/^[A-Z].*\.$/s);
});

it('leaves the server as it was', async () => {
  expect((await postEvent(server.url)).status).toBe(204);
});

it('refuses a body that outgrows the limit without having announced it', async () => {
  const headers = [...Object.entries(eventHeaders), ['transfer-encoding', 'chunked']] as const;
  const size = Buffer.from('100000\r\n');
  const chunk = Buffer.concat([size, Buffer.alloc(2 ** 20, ' '), Buffer.from('\r\n')]);
  const answer = await sendRaw(server.port, head(headers), chunk, chunk, chunk);
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([413, 'BODY_TOO_LARGE']);
});

it('refuses a body by its announced length before a byte of it is sent', async () => {
  const announced = [
    ['content-length', '3000000'],
    ['expect', '100-continue'],
  ] as const;
  const answer = await sendRaw(server.port, head([...Object.entries(eventHeaders), ...announced]));
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([413, 'BODY_TOO_LARGE']);
});

it('answers what is not HTTP with a problem too', async () => {
  const answer = await sendRaw(server.port, 'HELLO\r\n\r\n');
  expect([answer.status, JSON.parse(answer.body).code]).toEqual([400, 'REQUEST_MALFORMED']);
});

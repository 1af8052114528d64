// The lives of certificates whose authority is lost, by the Secret or by its key: what servers and
// clients must believe at each of four moments. The handshakes are the caller's.
import { expect } from 'vitest';
import {
  type CertificateFiles,
  certificatesIn,
} from '../../../shared/stateful/certificates/secret-data.ts';

const LISTENERS = ['clients', 'routes'] as const;
type Listener = (typeof LISTENERS)[number];
type Files = Readonly<Record<Listener, CertificateFiles>>;

interface Lives {
  readonly first: Files;
  /** Once the authority is lost, and another one has been made. */
  readonly after: Files;
  /** Before clients can be taken to know the other one. */
  readonly late: Files;
  readonly renewed: Files;
}

type Believes = (
  listener: Listener,
  asks: CertificateFiles,
  server: CertificateFiles,
) => Promise<string>;

/** Servers keep their certificates until clients know the next authority. */
export async function expectNobodyIsCutOff(
  { first, after, late, renewed }: Lives,
  believes: Believes,
): Promise<void> {
  expect(after.clients.ca).toContain(first.clients.ca);
  expect(certificatesIn(after.clients.ca)).toHaveLength(2);
  for (const listener of ['clients', 'routes'] as const) {
    const { certificate, key } = first[listener];
    expect(after[listener]).toMatchObject({ certificate, key });
    expect(late[listener]).toEqual(after[listener]);
  }
  expect(renewed.clients.certificate).not.toBe(first.clients.certificate);
  for (const [one, other] of [
    [first, after],
    [after, renewed],
  ] as const) {
    expect(await believes('routes', one.routes, other.routes)).toBe('believed');
    expect(await believes('routes', other.routes, one.routes)).toBe('believed');
    expect(await believes('clients', one.clients, other.clients)).toBe('believed');
  }
  // A client that never fetched the list with both does not trust the next.
  expect(await believes('clients', first.clients, renewed.clients)).not.toBe('believed');
}

// A nats-server that speaks TLS with a certificate of an authority that nobody else knows.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resolvePart } from '../../knative/try/local/parts/resolve.ts';
import { natsServerSpec } from '../../knative/try/local/plane/nats-server.ts';
import type { Plane } from '../../knative/try/local/plane/plane.ts';
import type { Part } from '../../knative/try/local/process/part.ts';
import { freePort } from '../../knative/try/local/process/ports.ts';
import { issue, makeAuthority } from '../../shared/x509.ts';

const validity = { fromMs: Date.now() - 60_000, toMs: Date.now() + 3_600_000 };
const authority = makeAuthority('authority', validity);

/** PEM. */
export const CA = authority.certPem;
export const OTHER_CA = makeAuthority('authority', validity).certPem;

export const certificateFor = (host: string, by = authority) =>
  issue(by, { commonName: host, hosts: [host] }, validity);

export const nextAuthority = makeAuthority('next', validity);

export interface SecuredNats {
  readonly part: Part;
  /** Without a login. */
  readonly url: string;
  /** From its next start on. */
  show(certificate: ReturnType<typeof certificateFor>): Promise<void>;
}

/** `config`: who may enter. With `isMutual` clients show a certificate, too. */
export async function startSecuredNats(
  plane: Plane,
  name: string,
  config: object,
  isMutual = false,
): Promise<SecuredNats> {
  const dir = join(plane.dir, name);
  await mkdir(dir);
  const file = (one: string): string => join(dir, one);
  const show: SecuredNats['show'] = async ({ certPem, keyPem }) => {
    await writeFile(file('tls.crt'), certPem);
    await writeFile(file('tls.key'), keyPem);
  };
  await show(certificateFor('127.0.0.1'));
  await writeFile(file('ca.crt'), CA);
  const tls = {
    cert_file: file('tls.crt'),
    key_file: file('tls.key'),
    ca_file: file('ca.crt'),
    verify: isMutual,
  };
  await writeFile(file('nats.conf'), JSON.stringify({ ...config, tls }));
  const [binary, port, monitorPort] = await Promise.all([
    resolvePart('nats-server'),
    freePort(),
    freePort(),
  ]);
  const spec = natsServerSpec({ binary, dir, port, monitorPort });
  const args = [...spec.args, `--config=${file('nats.conf')}`];
  const part = await plane.add({ ...spec, name, args });
  return { part, url: `tls://127.0.0.1:${port}`, show };
}

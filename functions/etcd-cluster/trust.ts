// The authorities that members trust: those that their Secret had when they last started. A
// certificate of another one would cut members off from each other, so it waits for their restarts.
import { hashOf } from '../../shared/hash.ts';
import {
  type CertificateFiles,
  certificatesIn,
} from '../../shared/stateful/certificates/secret-data.ts';
import { unfit } from '../../shared/stateful/certificates/unfit.ts';

/** Whether every member that runs was started with the authorities of this hash. */
export type Trusts = (hash: string) => boolean;

/** etcd reads them when it starts, and everything else of a certificate for each connection. */
export const authoritiesHash = (clients: string | undefined, peers: string | undefined): string =>
  hashOf([clients, peers]);

export interface Shown {
  /** As members show and trust them by now. */
  readonly before: CertificateFiles;
  readonly after: Pick<CertificateFiles, 'certificate' | 'key'>;
  readonly host: string;
  readonly nowMs: number;
}

/**
 * Whether members may show the next certificate: it is signed by an authority of which they were
 * told, and each that runs was started since, or by the one that signed the former.
 */
export function isTrusted({ before, after, host, nowMs }: Shown, areStarted: boolean): boolean {
  const signersOf = (files: Shown['after']): readonly string[] =>
    certificatesIn(before.ca).filter((ca) => unfit({ ...files, ca }, host, nowMs) === undefined);
  const signers = signersOf(after);
  const former = areStarted ? signers : signersOf(before);
  return signers.some((one) => former.includes(one));
}

// The secret part of the configuration: passwords and certificates, as read from the Secrets.
import type { CertificateFiles } from '../../shared/stateful/certificates/secret-data.ts';

export interface Credentials {
  readonly systemPassword: string;
  readonly routePassword: string;
  /** By the name of the user. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly certificates: {
    readonly clients?: CertificateFiles;
    readonly routes?: CertificateFiles;
  };
}

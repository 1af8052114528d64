// The secret part of the configuration: passwords and certificates, as read from the Secrets.
import type { ConfigObject } from './render/config-object.ts';

export interface Credentials {
  readonly systemPassword: string;
  readonly routePassword: string;
  /** By the name of the user. */
  readonly passwords: ReadonlyMap<string, string>;
  readonly certificates: {
    readonly clients?: CertificateFiles;
    readonly routes?: CertificateFiles;
  };
  /** The accounts of before, as servers have them, while those of the spec cannot be. */
  readonly accounts?: ConfigObject | undefined;
}

/** As PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

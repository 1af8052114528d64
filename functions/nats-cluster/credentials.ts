// The secret part of the configuration: passwords and certificates, as read from the Secrets.

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

/** As PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
  readonly ca: string;
}

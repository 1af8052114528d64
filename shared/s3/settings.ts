// Where an object storage is and how it is spoken with: what a command was told, else what the
// environment says under the names that every tool for S3 reads.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type CredentialSource, type Identity, sourceIn } from './credentials.ts';

export interface S3Settings {
  /** As `https://s3.example:9000`; undefined for Amazon's own of the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Whether the bucket stands in the path, and not before the host. */
  readonly isPathStyle: boolean;
  /** PEM of the authorities that are trusted, in the place of the public ones. */
  readonly caPath: string | undefined;
  readonly credentials: CredentialSource;
  /** For what is written: `AES256`, `aws:kms`, or `aws:kms:KEY`. */
  readonly encryption: string | undefined;
}

export interface S3Options {
  readonly endpoint?: string | undefined;
  readonly region?: string | undefined;
  readonly style?: 'path' | 'host' | undefined;
  readonly caPath?: string | undefined;
  readonly credentialsPath?: string | undefined;
  readonly encryption?: string | undefined;
}

const REGION = 'us-east-1';

export function s3Settings(options: S3Options = {}): S3Settings {
  const { env } = process;
  const endpoint =
    options.endpoint ?? named(env['AWS_ENDPOINT_URL_S3']) ?? named(env['AWS_ENDPOINT_URL']);
  const region =
    options.region ?? named(env['AWS_REGION']) ?? named(env['AWS_DEFAULT_REGION']) ?? REGION;
  const caPath = options.caPath ?? named(env['AWS_CA_BUNDLE']);
  const style = options.style ?? (endpoint === undefined ? 'host' : 'path');
  return {
    endpoint,
    region,
    isPathStyle: style === 'path',
    caPath,
    credentials: sourceIn({
      path: options.credentialsPath,
      accessKeyId: named(env['AWS_ACCESS_KEY_ID']),
      secretAccessKey: named(env['AWS_SECRET_ACCESS_KEY']),
      sessionToken: named(env['AWS_SESSION_TOKEN']),
      identity: identityIn(env, region, caPath),
      usualPath: named(env['AWS_SHARED_CREDENTIALS_FILE']) ?? join(home(), '.aws/credentials'),
      profile: named(env['AWS_PROFILE']) ?? 'default',
    }),
    encryption: options.encryption,
  };
}

const named = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

/** A platform that gives pods an identity puts this into their environment. */
function identityIn(
  env: NodeJS.ProcessEnv,
  region: string,
  caPath: string | undefined,
): Identity | undefined {
  const roleArn = named(env['AWS_ROLE_ARN']);
  const tokenPath = named(env['AWS_WEB_IDENTITY_TOKEN_FILE']);
  const url = named(env['AWS_CONTAINER_CREDENTIALS_FULL_URI']);
  if (roleArn !== undefined && tokenPath !== undefined) {
    const sessionName = named(env['AWS_ROLE_SESSION_NAME']) ?? 'ballast';
    const endpoint =
      named(env['AWS_ENDPOINT_URL_STS']) ??
      named(env['AWS_ENDPOINT_URL']) ??
      `https://sts.${region}.amazonaws.com`;
    return { webIdentity: { roleArn, tokenPath, sessionName, endpoint, caPath } };
  }
  if (url === undefined) return undefined;
  return { keyService: { url, tokenPath: named(env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE']) } };
}

/** A user without a name and without HOME has none, as in a pod: then there is no file either. */
function home(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

// How commands are told about an object storage.
import { UsageError } from '../arguments.ts';
import { isPlace, type Place, placeIn } from './place.ts';
import { type S3Settings, s3Settings } from './settings.ts';

export const S3_ARGUMENTS = {
  's3-endpoint': { type: 'string' },
  's3-region': { type: 'string' },
  's3-style': { type: 'string' },
  's3-cacert': { type: 'string' },
  's3-credentials': { type: 'string' },
} as const;

export const S3_USAGE = `\
  --s3-endpoint URL  where the object storage is ($AWS_ENDPOINT_URL_S3, or Amazon's of the region)
  --s3-region NAME   its region ($AWS_REGION, or us-east-1)
  --s3-style STYLE   where the bucket stands: host, or path (path where an endpoint is named)
  --s3-cacert FILE   the CA of its certificate ($AWS_CA_BUNDLE)
  --s3-credentials FILE  in the form of ~/.aws/credentials ($AWS_ACCESS_KEY_ID,
                     $AWS_SECRET_ACCESS_KEY and $AWS_SESSION_TOKEN; the identity of a pod; or
                     that file itself)
`;

type Values = Readonly<Partial<Record<keyof typeof S3_ARGUMENTS, string>>>;

export interface S3Address {
  readonly place: Place;
  readonly settings: S3Settings;
}

/** Undefined for what is no `s3://` address. */
export function s3AddressOf(
  text: string,
  values: Values,
  encryption?: string,
): S3Address | undefined {
  if (!isPlace(text)) return undefined;
  const place = placeIn(text);
  if ('why' in place) throw new UsageError(`${text} is no object: ${place.why}`);
  const settings = s3Settings({
    endpoint: endpointOf(values['s3-endpoint']),
    region: values['s3-region'],
    style: styleOf(values['s3-style']),
    caPath: values['s3-cacert'],
    credentialsPath: values['s3-credentials'],
    encryption,
  });
  return { place, settings };
}

function endpointOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url.href;
  throw new UsageError(`--s3-endpoint must be as https://s3.example:9000, not ${text}`);
}

function styleOf(text: string | undefined): 'path' | 'host' | undefined {
  if (text === undefined || text === 'path' || text === 'host') return text;
  throw new UsageError(`--s3-style is path or host, not ${text}`);
}

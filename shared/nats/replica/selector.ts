// Label selectors as kubectl takes them: `app=web,tier!=cache,zone in (a,b),!legacy`. Reading one
// gives requirements, or says what is wrong with it.

export interface Requirement {
  readonly label: string;
  /** Undefined asks only whether the label is there. */
  readonly values: ReadonlySet<string> | undefined;
  /** Holds when the label is absent or has another value. */
  readonly isNegated: boolean;
}

export interface Selection {
  readonly resource?: string;
  /** Empty for what belongs to no namespace. */
  readonly namespace?: string;
  readonly labels?: readonly Requirement[];
}

export type Labels = Readonly<Record<string, string>>;

const LABEL = String.raw`[A-Za-z0-9](?:[\w./-]*[A-Za-z0-9])?`;
const VALUE = String.raw`(?:[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)?`;
const EXISTS = new RegExp(`^(!?)\\s*(${LABEL})$`);
const EQUALS = new RegExp(`^(${LABEL})\\s*(==|=|!=)\\s*(${VALUE})$`);
const IN = new RegExp(`^(${LABEL})\\s+(in|notin)\\s*\\(([^()]*)\\)$`);
const ONE_VALUE = new RegExp(`^${VALUE}$`);
/** Commas between requirements, not those inside parentheses. */
const SEPARATOR = /,(?![^(]*\))/;

/** A text says what cannot be read, to end the sentence "The selector is wrong: ...". */
export function parseSelector(text: string): readonly Requirement[] | string {
  const requirements: Requirement[] = [];
  for (const part of text.split(SEPARATOR)) {
    const requirement = parseRequirement(part.trim());
    if (requirement === undefined) return `'${part.trim()}' is no requirement of a label selector`;
    requirements.push(requirement);
  }
  return requirements;
}

function parseRequirement(part: string): Requirement | undefined {
  const exists = EXISTS.exec(part);
  if (exists !== null) {
    return { label: exists[2] ?? '', values: undefined, isNegated: exists[1] === '!' };
  }
  const equals = EQUALS.exec(part);
  if (equals !== null) {
    const [, label = '', operator, value = ''] = equals;
    return { label, values: new Set([value]), isNegated: operator === '!=' };
  }
  const [, label = '', operator, list = ''] = IN.exec(part) ?? [];
  const values = list.split(',').map((value) => value.trim());
  if (label === '' || !values.every((value) => ONE_VALUE.test(value))) return undefined;
  return { label, values: new Set(values), isNegated: operator === 'notin' };
}

/** The selector of a Service or of `matchLabels`. */
export function requireLabels(labels: Labels): readonly Requirement[] {
  return Object.entries(labels).map(([label, value]) => ({
    label,
    values: new Set([value]),
    isNegated: false,
  }));
}

export function satisfies(labels: Labels, requirements: readonly Requirement[]): boolean {
  return requirements.every(({ label, values, isNegated }) => {
    const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
    const isMet = value !== undefined && (values === undefined || values.has(value));
    return isMet !== isNegated;
  });
}

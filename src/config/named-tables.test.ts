import { describe, expect, it } from 'vitest';
import { complaint, load, sources } from '../../test/support/config-sources.ts';
import { loadClientConfig } from './load-config.ts';

const spark = '[engines.spark]\nkind = "spark-connect"\nurl = "sc://spark:15002"\n';

describe('an engine', () => {
  it('is made of three lines, the rest has defaults', () => {
    expect(load({ toml: spark }).config.engines).toEqual(
      new Map([
        [
          'spark',
          {
            kind: 'spark-connect',
            url: 'sc://spark:15002',
            pathMap: undefined,
            connectTimeoutMs: 5000,
            queryTimeoutMs: 600_000,
            maxConcurrent: 16,
            maxResultBytes: 10_000_000_000,
          },
        ],
      ]),
    );
  });

  it('may have every key, and there may be several', () => {
    const toml = `${spark}path_map = "s3a://bucket/cold"
connect_timeout = "1s"
query_timeout = 90
max_concurrent = 2
max_result = "1GB"
[engines.my-sail_2]
kind = "spark-connect"
url = "sc://[::1]:50051/;use_ssl=false"`;
    const { engines } = load({ toml }).config;
    expect([...engines.keys()]).toEqual(['my-sail_2', 'spark']);
    expect(engines.get('spark')).toMatchObject({
      pathMap: 's3a://bucket/cold',
      connectTimeoutMs: 1000,
      queryTimeoutMs: 90_000,
      maxConcurrent: 2,
      maxResultBytes: 1_000_000_000,
    });
  });

  it('may stand in the environment alone, or be changed by it', () => {
    const env = {
      FRAMEHOLD_ENGINES_SAIL_KIND: 'spark-connect',
      SERVICE_ENGINES_SAIL_URL: 'sc://sail:50051',
      FRAMEHOLD_ENGINES_BIG_SPARK_PATH_MAP: 'hdfs://name/cold',
      SERVICE_ENGINES_BIG_SPARK_PATH_MAP: 'hdfs://other/cold',
      FRAMEHOLD_ENGINES_BIG_SPARK_URL: '',
    };
    const { engines } = load({ toml: spark.replace('spark]', 'big-spark]'), env }).config;
    expect(engines.get('sail')).toMatchObject({ url: 'sc://sail:50051' });
    expect(engines.get('big-spark')).toMatchObject({ url: 'sc://spark:15002', pathMap: 'hdfs://name/cold' });
  });

  it.each([
    'sc://spark',
    'sc://spark:15002',
    'sc://spark:15002/',
    'sc://spark/;token=a=b;use_ssl=true',
    'sc://[::1]:1/',
  ])('takes the URL %s', (url) => {
    const { config } = load({ env: { FRAMEHOLD_ENGINES_A_KIND: 'spark-connect', FRAMEHOLD_ENGINES_A_URL: url } });
    expect(config.engines.get('a')?.url).toBe(url);
  });

  it('behind TLS may have a certificate that only the file of NODE_EXTRA_CA_CERTS vouches for', () => {
    const env = { NODE_EXTRA_CA_CERTS: '/etc/office.pem' };
    expect(load({ toml: spark, env }).config.extraCertificatesFile).toBe('/etc/office.pem');
  });

  it('shows every key with its origin, and no secret', () => {
    const toml = `${spark.replace('15002', '15002/;token=secret;use_ssl=true;x-api-key=hidden;user_id=ada')}`;
    const { settings } = load({ toml });
    const shown = settings.filter(({ key }) => key.startsWith('engines.'));
    expect(shown).toHaveLength(7);
    expect(shown).toContainEqual({
      key: 'engines.spark.url',
      shown: 'sc://spark:15002/;token=***;use_ssl=true;x-api-key=***;user_id=ada',
      origin: '/home/ada/.framehold/config.toml:3',
      reload: false,
    });
    expect(shown).toContainEqual({
      key: 'engines.spark.connect_timeout',
      shown: '5s',
      origin: 'default',
      reload: false,
    });
  });

  it.each(['/a b/ü', 's3a://bucket/täglich kalt', 'file:///a b'])('takes the path %s', (path) => {
    expect(load({ toml: `${spark}path_map = "${path}"` }).config.engines.get('spark')?.pathMap).toBe(path);
  });

  it("is none of a client command's business but for its keys", () => {
    const toml = '[engines.spark]\nkind = "trino"\n[client]\nserver = "http://far:9000"';
    expect(loadClientConfig(sources({ toml })).server).toBe('http://far:9000');
  });
});

describe('what is wrong with an engine is said in one line', () => {
  it.each([
    [
      'an unknown key',
      `${spark}ulr = "x"`,
      'unknown key engines.spark.ulr in /home/ada/.framehold/config.toml:4; did you mean url?',
    ],
    [
      'an unknown kind',
      spark.replace('spark-connect', 'spark-conect'),
      'engines.spark.kind is "spark-conect" (set by /home/ada/.framehold/config.toml:2); expected spark-connect; did you mean spark-connect?',
    ],
    [
      'no kind',
      '[engines.spark]\nurl = "sc://a"',
      'the engine spark (set by /home/ada/.framehold/config.toml:2) has no kind; add kind = "spark-connect" to [engines.spark]',
    ],
    ['no url', '[engines.spark]\nkind = "spark-connect"', 'has no url; add url = '],
    [
      'a reserved name',
      spark.replace('spark]', 'local]'),
      'the engine "local" (set in /home/ada/.framehold/config.toml:1) has a name of our own',
    ],
    [
      'a bad name',
      spark.replace('spark]', 'Spark]'),
      'the engine "Spark" (set in /home/ada/.framehold/config.toml:1) is not named well; expected small letters',
    ],
    [
      'a key without an engine',
      '[engines]\nurl = "sc://a"',
      'engines.url in /home/ada/.framehold/config.toml:2 is a string; expected a section [engines.url]',
    ],
    ['a wrong type', spark.replace('"sc://spark:15002"', '15002'), 'engines.spark.url is the number 15002'],
    ['a wrong URL', spark.replace('sc://spark', 'http://spark'), "expected a URL in PySpark's form"],
    [
      'an option of the URL that is not known',
      spark.replace('15002', '15002/;TOKEN=hidden'),
      'engines.spark.url is "sc://spark:15002/;TOKEN=***" (set by /home/ada/.framehold/config.toml:3): the URL of a Spark Connect engine has the option TOKEN that is not known (token, use_ssl, user_id, user_agent and x-… are',
    ],
    ['a flag of the URL that is none', spark.replace('15002', '15002/;use_ssl=maybe'), 'use_ssl that is neither'],
    ['a session', spark.replace('15002', '15002/;session_id=abc'), 'names a session_id'],
    ['a token that is wrongly encoded', spark.replace('15002', '15002/;token=%zz'), 'not percent-encoded rightly'],
    ['two tokens', spark.replace('15002', '15002/;token=a;token=b'), 'has the option token twice'],
    ['a header of two lines', spark.replace('15002', '15002/;x-a=b%0d%0ac'), 'x-a with other than printable ASCII'],
    ['a wrong path', `${spark}path_map = "cold"`, 'engines.spark.path_map is "cold"'],
    ['a path of two lines', `${spark}path_map = "/a\\nb"`, 'engines.spark.path_map is'],
    [
      'two names alike',
      `${spark.replace('spark]', 'my-a]')}${spark.replace('spark]', 'my_a]')}`,
      'the engines my-a and my_a differ only in - and _',
    ],
    [
      'a default that is not there',
      `[sql]\ndefault_engine = "sprak"\n${spark}`,
      'sql.default_engine is "sprak" (set by /home/ada/.framehold/config.toml:2); expected one of local, tsdb, auto, spark; did you mean spark?',
    ],
    [
      'an auto engine that is not there',
      '[sql]\nauto_engine = "spark"',
      'expected a section [engines.<name>], of which there is none',
    ],
    ['an auto engine that is local', `[sql]\nauto_engine = "local"\n${spark}`, 'expected one of spark'],
  ])('%s', (_, toml, expected) => {
    expect(complaint({ toml })).toContain(expected);
  });

  it('a key of the environment that there is not', () => {
    expect(complaint({ env: { FRAMEHOLD_ENGINES_SPARK_ULR: 'x' } })).toContain(
      'FRAMEHOLD_ENGINES_SPARK_ULR names no key of an engine',
    );
  });

  it('hides the token of a URL that is wrong', () => {
    for (const options of ['token=secret', 'token=a;secret', 'token=a;secret=b', 'TOKEN=secret', 'secret', '?secret']) {
      const text = complaint({ toml: spark.replace('sc://spark:15002', `sc://spark:99999/;${options}`) });
      expect(text).toContain('***');
      expect(text).not.toContain('secret');
      expect(complaint({ toml: spark.replace('15002', `15002/;token=a;${options}`) })).not.toContain('secret');
    }
  });
});

const issuer = `[auth]
enabled = true
[auth.issuers.corp]
issuer = "https://login.example.com"
audience = "framehold"
tenant = "research"
roles = { quants = "write", "heads, all=of them" = "admin" }
`;
const certificate =
  '[tls]\ncert_file = "a"\nkey_file = "b"\nclient_auth = "optional"\nclient_ca_file = "c"\n' +
  '[auth]\nenabled = true\n[auth.certificates.etl]\ncn = "etl-*"\ntenant = "research"\nrole = "read"\n';

describe('issuers and certificates', () => {
  it('are sections of auth, beside its other keys', () => {
    const { auth } = load({ toml: issuer }).config;
    expect(auth.issuers).toEqual(
      new Map([
        [
          'corp',
          {
            issuer: 'https://login.example.com',
            audience: 'framehold',
            jwksUrl: undefined,
            algorithms: ['RS256', 'ES256', 'EdDSA'],
            typ: undefined,
            tenant: 'research',
            tenantClaim: undefined,
            roleClaim: 'roles',
            roles: new Map([
              ['quants', 'write'],
              ['heads, all=of them', 'admin'],
            ]),
            consoleClientId: undefined,
            consoleScope: 'openid',
          },
        ],
      ]),
    );
    expect(auth.enabled).toBe(true);
    expect(load({ toml: certificate }).config.auth.certificates.get('etl')).toEqual({
      uri: undefined,
      dns: undefined,
      cn: 'etl-*',
      tenant: 'research',
      role: 'read',
    });
  });

  it('may stand in the environment', () => {
    const env = {
      FRAMEHOLD_AUTH_ENABLED: 'true',
      FRAMEHOLD_AUTH_ISSUERS_CORP_ISSUER: 'http://127.0.0.1:8080/realm',
      FRAMEHOLD_AUTH_ISSUERS_CORP_AUDIENCE: 'framehold',
      FRAMEHOLD_AUTH_ISSUERS_CORP_TENANT_CLAIM: 'team',
      SERVICE_AUTH_ISSUERS_CORP_ROLES: 'quants=write, a=b=read',
      FRAMEHOLD_AUTH_ISSUERS_CORP_ALGORITHMS: 'PS256',
    };
    expect(load({ env }).config.auth.issuers.get('corp')).toMatchObject({
      tenant: undefined,
      tenantClaim: 'team',
      algorithms: ['PS256'],
      roles: new Map([
        ['quants', 'write'],
        ['a=b', 'read'],
      ]),
    });
  });

  it.each([
    [
      'issuers without auth',
      issuer.replace('= true', '= false'),
      'there is a section [auth.issuers.corp], but auth.enabled is false',
    ],
    [
      'certificates without auth',
      certificate.replace('= true', '= false'),
      'there is a section [auth.certificates.etl], but',
    ],
    [
      'certificates that nobody asks for',
      certificate.replace(/\[tls\][^[]*/, ''),
      'there is a section [auth.certificates.etl], but tls.client_auth is off',
    ],
    ['anonymous callers without auth', '[auth]\nanonymous = "default:read"', 'auth.anonymous is set (by '],
    ['anonymous callers who may write', '[auth]\nanonymous = "default:write"', 'expected a tenant and the role read'],
    ['no tenant', issuer.replace(/tenant.*\n/, ''), '[auth.issuers.corp] has neither tenant nor tenant_claim'],
    ['two tenants', `${issuer}tenant_claim = "team"`, '[auth.issuers.corp] has both tenant and tenant_claim'],
    ['plain http', issuer.replace('https:', 'http:'), 'auth.issuers.corp.issuer is "http://login.example.com" (set by'],
    ['a shared secret', `${issuer}algorithms = ["HS256"]`, 'auth.issuers.corp.algorithms is "HS256"'],
    ['a role that there is not', issuer.replace('"write"', '"root"'), 'expected values of the claim, each with one of'],
    ['no roles', issuer.replace(/roles.*\n/, ''), 'the issuer corp (set by'],
    ['a tenant in capitals', issuer.replace('"research"', '"Research"'), 'auth.issuers.corp.tenant is "Research"'],
    ['an unknown key', `${issuer}audiences = "x"`, 'unknown key auth.issuers.corp.audiences in'],
    ['an unknown section', issuer.replace('auth.issuers', 'auth.issuer'), 'unknown key auth.issuer in'],
    ['no pattern', certificate.replace(/cn.*\n/, ''), '[auth.certificates.etl] has 0 of uri, dns and cn'],
    ['two patterns', `${certificate}dns = "a"`, '[auth.certificates.etl] has 2 of uri, dns and cn'],
    [
      'the same issuer twice',
      `${issuer}${issuer.slice(issuer.indexOf('[auth.issuers')).replace('corp]', 'other]')}`,
      '[auth.issuers.corp] and [auth.issuers.other] have the same issuer',
    ],
  ])('are refused with %s', (_, toml, expected) => {
    expect(complaint({ toml })).toContain(expected);
  });
});

import { pythonSuite } from './support/python-suite.ts';

await pythonSuite('SQLAlchemy', 'sqlalchemy_cases');

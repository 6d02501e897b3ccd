// Scripts: what a real redis-server 7.0.15 replied to them, byte by byte. Each was sent as EVAL <script> 1 key argument.

#include "models/redis/conformance/test_server.hpp"

namespace lockstep::models::redis::script_test {

TEST_CASE("scripts convert values between Lua and Redis as redis-server 7.0 does") {
  static constexpr Exchange kExchanges[] = {
      {"return 1.9", ":1\r\n"},
      {"return -1.9", ":-1\r\n"},
      {"return 2^53", ":9007199254740992\r\n"},
      {"return 2^63", ":-9223372036854775808\r\n"},
      {"return 0/0", ":-9223372036854775808\r\n"},
      {"return 1/0", ":-9223372036854775808\r\n"},
      {"return 'x'", "$1\r\nx\r\n"},
      {"return nil", "$-1\r\n"},
      {"return false", "$-1\r\n"},
      {"return true", ":1\r\n"},
      {"return {}", "*0\r\n"},
      {"return", "$-1\r\n"},
      {"return {1,2,nil,4}", "*2\r\n:1\r\n:2\r\n"},
      {"return {1,'a',{2,false,true},3.7}", "*4\r\n:1\r\n$1\r\na\r\n*3\r\n:2\r\n$-1\r\n:1\r\n:3\r\n"},
      {"return {ok='fine'}", "+fine\r\n"},
      {"return {err='MY bad thing'}", "-MY bad thing\r\n"},
      {"return {err=''}", "-\r\n"},
      {"return {ok='a\\nb'}", "+a b\r\n"},
      {"return {err='ERR x\\r\\n'}", "-ERR x\r\n"},
      {"return {ok=1}", "*0\r\n"},
      {"return {err=5}", "*0\r\n"},
      {"return {double=3.5}", "$3\r\n3.5\r\n"},
      {"return {map={a=1}}", "*2\r\n$1\r\na\r\n:1\r\n"},
      {"return function() end", "$-1\r\n"},
      {"return {function() end, 1}", "*2\r\n$-1\r\n:1\r\n"},
      {"return {1,{ok='inner'},{err='inner'}}", "*3\r\n:1\r\n+inner\r\n-inner\r\n"},
      {"return {ok='x', err='y'}", "-y\r\n"},
      {"return setmetatable({}, {__index=function() return 'x' end})", "*0\r\n"},
      {"return redis.status_reply('hi')", "+hi\r\n"},
      {"return redis.error_reply('hi there')", "-hi there\r\n"},
      {"return redis.error_reply('-HI there')", "-HI there\r\n"},
      {"return redis.error_reply('single')", "-ERR single\r\n"},
      {"return redis.error_reply('')", "-ERR \r\n"},
      {"return redis.error_reply(1)", "-ERR wrong number or type of arguments\r\n"},
      {"return redis.status_reply(1,2)", "-ERR wrong number or type of arguments\r\n"},
      {"return redis.call('set',KEYS[1],ARGV[1])", "+OK\r\n"},
      {"return redis.call('set','k','v').ok", "$2\r\nOK\r\n"},
      {"return redis.call('get','none')", "$-1\r\n"},
      {"return type(redis.call('get','none'))", "$7\r\nboolean\r\n"},
      {"return type(redis.call('exists','text'))", "$6\r\nnumber\r\n"},
      {"return redis.call('type','text')", "+string\r\n"},
      {"return {redis.call('type','text').ok, #redis.call('time')}", "*2\r\n$6\r\nstring\r\n:2\r\n"},
      {"redis.call('set','k',1.5) return redis.call('get','k')", "$3\r\n1.5\r\n"},
      {"redis.call('set','k',3) return redis.call('get','k')", "$1\r\n3\r\n"},
      {"redis.call('set','k',-0.1) return redis.call('get','k')", "$20\r\n-0.10000000000000001\r\n"},
      {"redis.call('set','k',1e17) return redis.call('get','k')", "$5\r\n1e+17\r\n"},
      {"redis.call('set','k',1e100) return redis.call('get','k')", "$6\r\n1e+100\r\n"},
      {"redis.call('set','k',12345678901234567) return redis.call('get','k')", "$17\r\n12345678901234568\r\n"},
      {"redis.call('set','k',2^53) return redis.call('get','k')", "$16\r\n9007199254740992\r\n"},
      {"redis.call('set','k',1/0) return redis.call('get','k')", "$3\r\ninf\r\n"},
      {"return redis.call('set','k','v','px',100.0)", "+OK\r\n"},
      {"return redis.call('exists','text','text')", ":2\r\n"},
      {"return redis.sha1hex('')", "$40\r\nda39a3ee5e6b4b0d3255bfef95601890afd80709\r\n"},
      {"return redis.sha1hex(12)", "$40\r\n7b52009b64fd0a2a49e6d8a939753077792b0554\r\n"},
      {"return redis.log(redis.LOG_WARNING,'x')", "$-1\r\n"},
      {"return redis.setresp(3)", "$-1\r\n"},
      {"return redis.replicate_commands()", ":1\r\n"},
      {"return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM, redis.REPL_ALL, redis.LOG_DEBUG, _VERSION}",
       "*5\r\n$6\r\n7.0.15\r\n:458767\r\n:3\r\n:0\r\n$7\r\nLua 5.1\r\n"},
      {"return redis.acl_check_cmd('get','x')", ":1\r\n"},
      {"return unpack({1,2,3})", ":1\r\n"},
      {"return {KEYS[1], ARGV[1], #KEYS}", "*3\r\n$3\r\nkey\r\n$8\r\nargument\r\n:1\r\n"},
      {"KEYS[1]='x' return KEYS", "*1\r\n$1\r\nx\r\n"},
      {"return 1e15 .. ' ' .. 1e14 .. ' ' .. 1.5 .. ' ' .. 123456789012", "$28\r\n1e+15 1e+14 1.5 123456789012\r\n"},
      {"return string.format('%5.1f|%-5s|%05d|%x|%c|%i|%e|%g|%q|%%', "
       "3.14159,'ab',42,255,65,7,12345.678,0.1,'a\\0b\\r')",
       "$54\r\n  3.1|ab   |00042|ff|A|7|1.234568e+04|0.1|\"a\\000b\\r\"|%\r\n"},
      {"math.randomseed(0) return {tostring(math.random()),math.random(100),math.random(5,10)}",
       "*3\r\n$16\r\n0.17082803611217\r\n:75\r\n:5\r\n"},
      {"math.randomseed(-1) return {tostring(math.random()),math.random(100)}",
       "*2\r\n$16\r\n0.30002572727391\r\n:5\r\n"},
      {"math.randomseed(2^40) return math.random(1000)", ":171\r\n"},
  };
  check_scripts(kExchanges);
}

TEST_CASE("errors of scripts read as those of redis-server 7.0") {
  static constexpr Exchange kExchanges[] = {
      {"return redis.call()",
       "-ERR Please specify at least one argument for this redis lib call script: "
       "0a907e1429221a4d85516cab7fd219a82a9439d8, on @user_script:1.\r\n"},
      {"return redis.call({})",
       "-ERR Lua redis lib command arguments must be strings or integers script: "
       "80747816df1f4411f7c442b928fce6a814214839, on @user_script:1.\r\n"},
      {"return redis.call('foo')",
       "-ERR Unknown Redis command called from script script: cc78c5a793d041f28ab0f6b117a82d1428ccfd13, on "
       "@user_script:1.\r\n"},
      {"return redis.call('get')",
       "-ERR Wrong number of args calling Redis command from script script: f187dee77f607f7cff00bbabc9df38507582c78d, "
       "on @user_script:1.\r\n"},
      {"return redis.call('set','x')",
       "-ERR Wrong number of args calling Redis command from script script: 9f0e3fb3787a03a53cf5bdbf5e9363c6232271b1, "
       "on @user_script:1.\r\n"},
      {"return redis.call('set','k',nil)",
       "-ERR Lua redis lib command arguments must be strings or integers script: "
       "20c9464d21db8ca17f3b5475c699a6ccc9642a3f, on @user_script:1.\r\n"},
      {"return redis.call('set','k','v','foo')",
       "-ERR syntax error script: 771c7d97d23306081d6e20fd16d3619aa6e27fd8, on @user_script:1.\r\n"},
      {"return redis.call('set','k','v','px',100.5)",
       "-ERR value is not an integer or out of range script: 05a60f02ddd7185dd660991a45273984592083f6, on "
       "@user_script:1.\r\n"},
      {"return redis.call('incr','text')",
       "-ERR value is not an integer or out of range script: 87774e6b972bfd1c1f0c93f3b26668137d4e5470, on "
       "@user_script:1.\r\n"},
      {"return redis.call('ping','a','b')",
       "-ERR wrong number of arguments for 'ping' command script: 27bc20b48dcfdcbcbca989566e4e29a88b9efd22, on "
       "@user_script:1.\r\n"},
      {"return redis.call('eval','return 1',0)",
       "-ERR This Redis command is not allowed from script script: 595931feb16e9cba240a2e4c6a852627761118e3, on "
       "@user_script:1.\r\n"},
      {"return redis.call('evalsha','x',0)",
       "-ERR This Redis command is not allowed from script script: a9337632bd3b4a6ba806826f24d4fc3b3edea43e, on "
       "@user_script:1.\r\n"},
      {"return redis.call('script','load','return 1')",
       "-ERR This Redis command is not allowed from script script: e884fdd1089d33f7e88d638d04f7355ac44786c2, on "
       "@user_script:1.\r\n"},
      {"return redis.call('script','foo')",
       "-ERR Unknown Redis command called from script script: f5e141e89aa1d959cab80c06988d384687718216, on "
       "@user_script:1.\r\n"},
      {"return redis.pcall()", "-ERR Please specify at least one argument for this redis lib call\r\n"},
      {"return redis.pcall('get')", "-ERR Wrong number of args calling Redis command from script\r\n"},
      {"return redis.pcall('foo','a').err", "$44\r\nERR Unknown Redis command called from script\r\n"},
      {"return redis.pcall('incr','text')", "-ERR value is not an integer or out of range\r\n"},
      {"return {redis.pcall('incr','text')}", "*1\r\n-ERR value is not an integer or out of range\r\n"},
      {"return redis.pcall('eval','return 1',0)", "-ERR This Redis command is not allowed from script\r\n"},
      {"local r=redis.pcall('incr','text') r.err='changed' return r", "-changed\r\n"},
      {"local r=redis.pcall('incr','text') local s='' for k,v in pairs(r) do s=s..k..'='..tostring(v)..';' end return "
       "s",
       "$79\r\nignore_error_stats_update=true;err=ERR value is not an integer or out of range;\r\n"},
      {"local ok,e=pcall(redis.call,'incr','text') return {ok,type(e),e}",
       "*3\r\n$-1\r\n$6\r\nstring\r\n$43\r\nERR value is not an integer or out of range\r\n"},
      {"local ok,e=pcall(error,{foo=1}) return {ok,type(e),e.foo}", "*3\r\n$-1\r\n$5\r\ntable\r\n:1\r\n"},
      {"local ok,e=pcall(error,{err='z'}) return e", "$1\r\nz\r\n"},
      {"local ok,e=pcall(error,'x') return e", "$1\r\nx\r\n"},
      {"local ok,e=pcall(function() return nosuch end) return e",
       "$78\r\nuser_script:1: Script attempted to access nonexistent global variable 'nosuch'\r\n"},
      {"local a,b=xpcall(function() error('a') end, function(e) return 'h:'..e end) return b",
       "$18\r\nh:user_script:1: a\r\n"},
      {"local a,b=xpcall(function() redis.call('incr','text') end, function(e) return type(e) end) return b",
       "$5\r\ntable\r\n"},
      {"error('boom')",
       "-ERR user_script:1: boom script: 82903a0434f1503e152f89c03c9acd881a0e8150, on @user_script:1.\r\n"},
      {"error('boom', 0)", "-ERR boom script: 90724e16396e5864c1184910ba6d7440461cee4f, on @user_script:1.\r\n"},
      {"error('boom', 2)", "-ERR boom script: 99976ca81634a6d73420dfed6a053c5428f9d5db, on @user_script:1.\r\n"},
      {"error('a\\nb')",
       "-ERR user_script:1: a b script: 119790126df3fc201f8f0498095b28c62b174151, on @user_script:1.\r\n"},
      {"error(5)", "-ERR user_script:1: 5 script: 007feaf5de074afe3398416376e34525ad911752, on @user_script:1.\r\n"},
      {"error()", "-ERR nil script: aca90d914519fdb9825352bdc0befb59f7c8510f, on @user_script:1.\r\n"},
      {"error(nil)", "-ERR nil script: c402aa49952c86c38f35fb311d54977d08f3bf01, on @user_script:1.\r\n"},
      {"error(true)", "-ERR true script: 4fafe2149f68a1618a3eef40aeef55f5af6951da, on @user_script:1.\r\n"},
      {"error({err='ERR table'})",
       "-ERR table script: 9bd18a11084325c79160426838238354c8349936, on @user_script:1.\r\n"},
      {"error({err='table'})", "-table script: 896887aeb2f0579cfb879bd54f33fff2e177e7eb, on @user_script:1.\r\n"},
      {"error(redis.error_reply('hello'))",
       "-ERR hello script: 55ab90b7259d3f31ea8d6e2a17d6a7f403b642d1, on @user_script:1.\r\n"},
      {"local a = {} return a.b.c",
       "-ERR user_script:1: attempt to index field 'b' (a nil value) script: 05c7377b6c870d065803f824476ba73089cb3eda, "
       "on @user_script:1.\r\n"},
      {"return nil .. 'x'",
       "-ERR user_script:1: attempt to concatenate a nil value script: c1e665fd995974aa8a06dc6f5ddbac7aa6d0c7d6, on "
       "@user_script:1.\r\n"},
      {"return {} < {}",
       "-ERR user_script:1: attempt to compare two table values script: fe12717409b91d7c0c64c39528a098f1c423fefe, on "
       "@user_script:1.\r\n"},
      {"return #5",
       "-ERR user_script:1: attempt to get length of a number value script: ffe83ca6101f6ad505d8608927f3d3b8a836e154, "
       "on @user_script:1.\r\n"},
      {"return (nil)()",
       "-ERR user_script:1: attempt to call a nil value script: 9a580917c1ccb482759b1037669ca8296e267644, on "
       "@user_script:1.\r\n"},
      {"local x = 5; x()",
       "-ERR user_script:1: attempt to call local 'x' (a number value) script: "
       "e19246a09cd91a84a7b6fa6bff54e62ddc25bad6, on @user_script:1.\r\n"},
      {"redis.foo()",
       "-ERR user_script:1: attempt to call field 'foo' (a nil value) script: "
       "be3399b747210bff051a2b5f3c16d01b2b3281f4, on @user_script:1.\r\n"},
      {"return ('x'):bad()",
       "-ERR user_script:1: attempt to call method 'bad' (a nil value) script: "
       "60af801ca8aafcf91936a9a510ab2ceb6df30acc, on @user_script:1.\r\n"},
      {"return redis.call('set','k','v') .. 'x'",
       "-ERR user_script:1: attempt to concatenate a table value script: 740a9e5f25d189183a0ffe1309c6cad4fe9b9061, on "
       "@user_script:1.\r\n"},
      {"return redis.sha1hex()",
       "-ERR wrong number of arguments script: 3c7ce947ae74a835cc575b6ee87fb27503cb7ba4, on @user_script:1.\r\n"},
      {"return redis.log('x')",
       "-ERR redis.log() requires two arguments or more. script: 1fcd6a303159eb531344e55c3a1258a5faf371df, on "
       "@user_script:1.\r\n"},
      {"return redis.log(9,'x')",
       "-ERR Invalid debug level. script: bdf8c5fe30a2bd47a4a97712903fc7f8bf1d2532, on @user_script:1.\r\n"},
      {"return redis.setresp(4)",
       "-ERR RESP version must be 2 or 3. script: 921c0a48021d97dfd5884aeea41875972c7804d9, on @user_script:1.\r\n"},
      {"return redis.set_repl(99)",
       "-ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE. script: "
       "fae934173b6296d6836d5d5f52e192640f8897d9, on @user_script:1.\r\n"},
      {"return redis.acl_check_cmd('nope')",
       "-ERR Invalid command passed to redis.acl_check_cmd() script: 77c8b6c32d6c843f504d60c41ae0922f76f44378, on "
       "@user_script:1.\r\n"},
      {"return math.random(0)",
       "-ERR user_script:1: bad argument #1 to 'random' (interval is empty) script: "
       "008bcb60f86ee36d26c67b641b46674578d9cba0, on @user_script:1.\r\n"},
      {"return math.random(2,1)",
       "-ERR user_script:1: bad argument #2 to 'random' (interval is empty) script: "
       "154b051a78bd7bb133691517692e1a7a38d25895, on @user_script:1.\r\n"},
      {"return math.random(1,2,3)",
       "-ERR user_script:1: wrong number of arguments script: 5cd983b5db563301a1c7ab05351573640323e7a9, on "
       "@user_script:1.\r\n"},
      {"return table.sort({3,1,'x'})",
       "-ERR attempt to compare string with number script: 1bb013ffd2bf678a27d0645d18e3b61ae00de3c5, on "
       "@user_script:1.\r\n"},
      {"return table.insert({},1,2,3,4)",
       "-ERR user_script:1: wrong number of arguments to 'insert' script: c6dc4b2273312f6117aaf8b1fefc230b86b56295, on "
       "@user_script:1.\r\n"},
      {"return table.concat({1,{},3})",
       "-ERR user_script:1: invalid value (table) at index 2 in table for 'concat' script: "
       "eb0534684e031e702003122cf0f200157f632621, on @user_script:1.\r\n"},
      {"return unpack({},1,8001)",
       "-ERR user_script:1: too many results to unpack script: eebd644d96c6e446b9ff12b995a7054aacd55f68, on "
       "@user_script:1.\r\n"},
      {"return tonumber('10',99)",
       "-ERR user_script:1: bad argument #2 to 'tonumber' (base out of range) script: "
       "32b9364efa595dd095092f37684dba48da9d8414, on @user_script:1.\r\n"},
      {"return next({},'x')",
       "-ERR invalid key to 'next' script: 5ef6e53d50fa9278dba9037fa0b290e219326939, on @user_script:1.\r\n"},
      {"return assert(false,'msg')",
       "-ERR user_script:1: msg script: 185087b7c55099759858526d96159f24a6c8a80e, on @user_script:1.\r\n"},
      {"return string.format('%d')",
       "-ERR user_script:1: bad argument #2 to 'format' (no value) script: 05feaa4990f14508c855a12844d0665b829def5d, "
       "on @user_script:1.\r\n"},
      {"x =", "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '<eof>'\r\n"},
      {"goto x", "-ERR Error compiling script (new function): user_script:1: '=' expected near 'x'\r\n"},
      {"return 1 return 2",
       "-ERR Error compiling script (new function): user_script:1: '<eof>' expected near 'return'\r\n"},
      {"#!foo", "-ERR Invalid script shebang\r\n"},
  };
  check_scripts(kExchanges);
}

TEST_CASE("globals and libraries are closed as in redis-server 7.0") {
  static constexpr Exchange kExchanges[] = {
      {"x=1",
       "-ERR user_script:1: Attempt to modify a readonly table script: 7caf6056913504f0508c65faf2dc3f94ff65bcfd, on "
       "@user_script:1.\r\n"},
      {"return x",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'x' script: "
       "03c387736bb5cc009ff35151572cee04677aa374, on @user_script:1.\r\n"},
      {"_G.x = 1",
       "-ERR user_script:1: Attempt to modify a readonly table script: e5cf4a26667af1721988fe8c9829d5cd2e26c62e, on "
       "@user_script:1.\r\n"},
      {"rawset(_G,'x',1)",
       "-ERR Attempt to modify a readonly table script: 90860ee597073785c7a12c667667abc4495e2c78, on "
       "@user_script:1.\r\n"},
      {"return rawget(_G,'x')", "$-1\r\n"},
      {"setmetatable(_G,{})",
       "-ERR Attempt to modify a readonly table script: e8f1b52cec0990f58c59b37010d130cfdce9e1a5, on "
       "@user_script:1.\r\n"},
      {"redis.call = nil",
       "-ERR user_script:1: Attempt to modify a readonly table script: 2786c35ed73d3860851cf52e0b5dfbbc0bdb4803, on "
       "@user_script:1.\r\n"},
      {"redis.foo = 1",
       "-ERR user_script:1: Attempt to modify a readonly table script: 1afad7befb249f32b7b09d28680712e03c705ddb, on "
       "@user_script:1.\r\n"},
      {"string.foo = 1",
       "-ERR user_script:1: Attempt to modify a readonly table script: 46f9bf166bc7e1ab2ed3b9de7b99c4e1e7dc1f7d, on "
       "@user_script:1.\r\n"},
      {"math.random = nil",
       "-ERR user_script:1: Attempt to modify a readonly table script: d9b92ca5dd59604e95d9aa086206364417903caf, on "
       "@user_script:1.\r\n"},
      {"KEYS=nil return KEYS",
       "-ERR user_script:1: Attempt to modify a readonly table script: 6895c1e788072f055670837fd70ea6c019709524, on "
       "@user_script:1.\r\n"},
      {"table.insert(string,1)",
       "-ERR Attempt to modify a readonly table script: 88e24227b7ae37de8c151ae1137f61049fe748ad, on "
       "@user_script:1.\r\n"},
      {"getmetatable('').__index = nil",
       "-ERR user_script:1: Attempt to modify a readonly table script: d73a1dfb50411851ebe32e3e075eb37e35009eff, on "
       "@user_script:1.\r\n"},
      {"getmetatable('').foo = nil",
       "-ERR user_script:1: Attempt to modify a readonly table script: f46f007446d2a9411d2416a97ac64938ca24cdba, on "
       "@user_script:1.\r\n"},
      {"return getmetatable('').__index == string", ":1\r\n"},
      {"return redis.nosuch", "$-1\r\n"},
      {"return print",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'print' script: "
       "df4c752a7558004676bbee87e38b92e0b9056d68, on @user_script:1.\r\n"},
      {"return os",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'os' script: "
       "f03b5ad6e7d58786b6a5e879efbea4a4408f5c2f, on @user_script:1.\r\n"},
      {"return io",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'io' script: "
       "badfe324d30f60abd2dbecf4d4b0f915038384e2, on @user_script:1.\r\n"},
      {"return require",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'require' script: "
       "68c9d8918a98cebaec1948aff703e96c57af9fdd, on @user_script:1.\r\n"},
      {"return dofile",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'dofile' script: "
       "0c5f629ecf4a281cada464398cd571c2f6828b27, on @user_script:1.\r\n"},
      {"return loadfile",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'loadfile' script: "
       "a08fbe72c95f67027cc9b6349f5d335b598397b7, on @user_script:1.\r\n"},
      {"return getfenv",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'getfenv' script: "
       "16cfebc0feae9751eb6419326840e1512625eb36, on @user_script:1.\r\n"},
      {"return setfenv",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'setfenv' script: "
       "3ffeb955c6323bb75eb872e0e1bc7214ea8780d9, on @user_script:1.\r\n"},
      {"return newproxy",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'newproxy' script: "
       "f77b925834a6a5cd4c3f954d604c77e44181c40f, on @user_script:1.\r\n"},
      {"return debug",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'debug' script: "
       "7f0eed9eaa523ec9e1ff69159f45a399473d9771, on @user_script:1.\r\n"},
      {"return package",
       "-ERR user_script:1: Script attempted to access nonexistent global variable 'package' script: "
       "bfab18646c3a65e87365badef4807726c27a0041, on @user_script:1.\r\n"},
      {"return loadstring('return 1')()", ":1\r\n"},
      {"return loadstring('x=1')()",
       "-ERR [string \"x=1\"]:1: Attempt to modify a readonly table script: 0c14d5734b62d25f8e858e0229d5df5ab94f9eba, "
       "on x=1:1.\r\n"},
      {"local f,e=loadstring('return return') return e",
       "$59\r\n[string \"return return\"]:1: unexpected symbol near 'return'\r\n"},
      {"local f,e=loadstring('return return','@name') return e", "$39\r\nname:1: unexpected symbol near 'return'\r\n"},
      {"local f,e=loadstring(string.dump(function() end),'=dump') return {type(f),e}",
       "*2\r\n$3\r\nnil\r\n$41\r\ndump:1: unexpected symbol near 'char(27)'\r\n"},
      {"local n=0 local f,e=load(function() n=n+1 if n==1 then return '\\27Lua' end end) return {tostring(f),e}",
       "*2\r\n$3\r\nnil\r\n$43\r\n(load):1: unexpected symbol near 'char(27)'\r\n"},
      {"local n=0 local f,e=load(function() n=n+1 if n==1 then return 'return 7' end end) return f()", ":7\r\n"},
      {"return load('return 1')",
       "-ERR user_script:1: bad argument #1 to 'load' (function expected, got string) script: "
       "311925b1490955a8f8c4ba46f2dea77f20c31b4e, on @user_script:1.\r\n"},
  };
  check_scripts(kExchanges);
}

TEST_CASE("patterns match as in redis-server 7.0") {
  static constexpr Exchange kExchanges[] = {
      {"return string.find('abc','(')",
       "-ERR user_script:1: unfinished capture script: 22ec5f89e24d4300e8bbd9c8b535cb6d7c860560, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','[a')",
       "-ERR user_script:1: malformed pattern (missing ']') script: 8983e612c52d2556d2311bafaa75a2a6915dde7f, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','%')",
       "-ERR user_script:1: malformed pattern (ends with '%') script: b008cacee2104e9ff7a16bac032267af6bac5994, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','%1')",
       "-ERR user_script:1: invalid capture index script: 3849bcbf770236a35b5e14303bfc160759c23da4, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','%f')",
       "-ERR user_script:1: missing '[' after '%f' in pattern script: 1b57f7e49b93475cfec65c2e31bf589c22689eb0, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','%b')",
       "-ERR user_script:1: unbalanced pattern script: 248c4b74fdf9f5b731a9e563105c13821835dc7b, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','(()')",
       "-ERR user_script:1: unfinished capture script: 00c46d6ad5b6f1dde3fb8d9c29b36c8404f197e4, on "
       "@user_script:1.\r\n"},
      {"return string.find('abc','a)')", "$-1\r\n"},
      {"return string.find('abc','(a))')",
       "-ERR user_script:1: invalid pattern capture script: 01cbf9e686601cf071ccfdbec7b40a0a7cf1d92d, on "
       "@user_script:1.\r\n"},
      {"return string.gsub('abc','a','%2')",
       "-ERR user_script:1: invalid capture index script: a6fe117281d76ac58faef42af6c4276101a4d3b3, on "
       "@user_script:1.\r\n"},
      {"return string.gsub('abc','a',{a=true})",
       "-ERR user_script:1: invalid replacement value (a boolean) script: f3284b0e1c549b5ce09347bdf16de881cbede4d8, on "
       "@user_script:1.\r\n"},
      {"return string.gsub('abc','a',nil)",
       "-ERR user_script:1: bad argument #3 to 'gsub' (string/function/table expected) script: "
       "5c8edec2193c5af63c31009a56c06927c4559333, on @user_script:1.\r\n"},
      {"return string.gsub('abc','a',function() return {} end)",
       "-ERR user_script:1: invalid replacement value (a table) script: 5b7745864b044be96c8315d81c0bb1dc7d1b2f8d, on "
       "@user_script:1.\r\n"},
      {"return {string.gsub('hello world','o','0')}", "*2\r\n$11\r\nhell0 w0rld\r\n:2\r\n"},
      {"return {string.gsub('hello world','(l+)(o)','%2%1%0%%%z')}", "*2\r\n$16\r\nheollllo%z world\r\n:1\r\n"},
      {"return {string.gsub('hello','','-')}", "*2\r\n$11\r\n-h-e-l-l-o-\r\n:6\r\n"},
      {"return {string.gsub('abc','%w','%0%0',2)}", "*2\r\n$5\r\naabbc\r\n:2\r\n"},
      {"return {string.gsub('abc','^a','x')}", "*2\r\n$3\r\nxbc\r\n:1\r\n"},
      {"return {string.gsub('abc d','%w+',{abc='X'})}", "*2\r\n$3\r\nX d\r\n:2\r\n"},
      {"return {string.gsub('abc d','(%w)',function(c) if c=='b' then return 'Y' end end)}",
       "*2\r\n$5\r\naYc d\r\n:4\r\n"},
      {"return {string.find('hello','l')}", "*2\r\n:3\r\n:3\r\n"},
      {"return {string.find('hello','(l)(l)')}", "*4\r\n:3\r\n:4\r\n$1\r\nl\r\n$1\r\nl\r\n"},
      {"return {string.find('hello','()ll()')}", "*4\r\n:3\r\n:4\r\n:3\r\n:5\r\n"},
      {"return {string.find('hello','xyz')}", "*0\r\n"},
      {"return {string.find('hello','l',-2)}", "*2\r\n:4\r\n:4\r\n"},
      {"return {string.find('hello','',10)}", "*2\r\n:6\r\n:5\r\n"},
      {"return {string.find('a.b','.',1,true)}", "*2\r\n:2\r\n:2\r\n"},
      {"return {string.match('key = value','(%w+)%s*=%s*(%w+)')}", "*2\r\n$3\r\nkey\r\n$5\r\nvalue\r\n"},
      {"return {string.match('  trim  ','^%s*(.-)%s*$')}", "*1\r\n$4\r\ntrim\r\n"},
      {"return {string.match('f(a(b)c)d','%b()')}", "*1\r\n$7\r\n(a(b)c)\r\n"},
      {"return {string.match('THE (quick) fox','%f[%a]%a+%f[%A]')}", "*1\r\n$3\r\nTHE\r\n"},
      {"return {string.match('abc','[^a-b]+')}", "*1\r\n$1\r\nc\r\n"},
      {"return {string.match('a]b','[]]')}", "*1\r\n$1\r\n]\r\n"},
      {"return {string.match('a-b','[a%-]+')}", "*1\r\n$2\r\na-\r\n"},
      {"return {string.match('a-b','[a-]+')}", "*1\r\n$2\r\na-\r\n"},
      {"return {string.match('xx','(x)%1')}", "*1\r\n$1\r\nx\r\n"},
      {"return {string.match('abc','b?c?d?')}", "*1\r\n$0\r\n\r\n"},
      {"return {string.match('aaa','a-$')}", "*1\r\n$3\r\naaa\r\n"},
      {"return #string.match('\\0a\\0','%z')", ":1\r\n"},
      {"return {string.match('a$b','a$b')}", "*1\r\n$3\r\na$b\r\n"},
      {"return {string.match('abc','^b')}", "*0\r\n"},
      {"return {string.match('x1Y_\\t','%a%d%u%p%c')}", "*1\r\n$5\r\nx1Y_\011\r\n"},
      {"local r={} for w in string.gmatch('one two','%a+') do r[#r+1]=w end return r",
       "*2\r\n$3\r\none\r\n$3\r\ntwo\r\n"},
      {"local r={} for k,v in string.gmatch('a=1,b=2','(%w+)=(%w+)') do r[#r+1]=k..v end return r",
       "*2\r\n$2\r\na1\r\n$2\r\nb2\r\n"},
      {"local r={} for w in string.gmatch('abc','') do r[#r+1]='e' end return #r", ":4\r\n"},
      {"local r={} for w in string.gmatch('abc','^a') do r[#r+1]=w end return r", "*0\r\n"},
  };
  check_scripts(kExchanges);
}

TEST_CASE("a script that declared no writes may not write") {
  TestServer server;
  CHECK(server.eval("#!lua flags=no-writes\nreturn redis.call('set','a','b')").resp() ==
        "-ERR Write commands are not allowed from read-only scripts. script: 6acb400a50fe96e33eca4e0af6e9dcfb21193726, "
        "on "
        "@user_script:2.\r\n");
  CHECK(server.eval("#!lua flags=no-writes\nreturn redis.call('exists','a')").is_integer(0));
  CHECK(server.eval("#!lua flags=foo\nreturn 1").resp() == "-ERR Unexpected flag in script shebang: foo\r\n");
  CHECK(server.eval("#!lua name=x\nreturn 1").resp() == "-ERR Unknown lua shebang option: name=x\r\n");
  CHECK(server.eval("#!foo\nreturn 1").resp() == "-ERR Unexpected engine in script shebang: #!foo\r\n");
  CHECK(server.eval("#!lua").resp() == "-ERR Invalid script shebang\r\n");
}

TEST_CASE("what a script wrote before it failed stays written") {
  TestServer server;
  CHECK(server.eval("redis.call('set','k','v') error('stop')").is_error());
  CHECK(server.resp("GET k") == "$1\r\nv\r\n");
}

TEST_CASE("a numeric comparison with a stored number is false, as in Lua") {
  TestServer server;
  server.send("SET count 0");
  CHECK(server.eval("if redis.call('get','count') == 0 then return 1 else return 2 end").is_integer(2));
}

}  // namespace lockstep::models::redis::script_test

/**
 * Words of programming in German, Chinese and Japanese with the English words that code has for them. Each entry is a word and its
 * translations, between entries there is a comma. Small on purpose: names in code are English, and many terms are the same in all languages.
 */

/** Stems in lower case, with `ae`, `oe`, `ue`, `ss` for umlauts and sharp s. Endings and the `ge` of participles are left out. */
export const GERMAN =
  "abbruch abort cancel,abbrech abort cancel,abbroch abort cancel,abfang catch intercept,abfrag query,abgelauf expired,abhaengigkeit dependency," +
  "ablauf expire flow,ablehn reject,abmeld logout,abruf fetch,absturz crash,abstuerz crash,adress address,aender change,aktualisier update refresh," +
  "anfang begin start,anfrag request,angemeldet login,anmeld login,annehm accept,anwend application apply,anzahl count,anzeig show display," +
  "arbeitsspeicher memory,argument argument,asynchron async,aufgab task,aufgeruf call,aufraeum cleanup,aufruf call,aufteil split," +
  "ausdruck expression,ausfuehr execute run,ausgab output,ausgeb print output,ausnahm exception,auswert evaluate,auswaehl select,authentifizier authenticate," +
  "bearbeit edit handle,bedingung condition,beend stop exit,befehl command,begrenz limit,behandel handle,behandl handle,behandlung handler," +
  "benachrichtig notify,benutzer user,berechn compute calculate,berechtig permission,bereich range scope,bereinig cleanup,beschreib description," +
  "bestaetig confirm,bibliothek library,bild image,blockier block,breit width,datei file,daten data,datenbank database,datum date,dauer duration," +
  "deaktivier disable,aktivier enable,dienst service,drossel throttle,druck print,durchsuch search,ebene level,eigenschaft property," +
  "einbind include import,eingab input,einfueg insert,einles read,eingeles read,einricht setup,einstell setting config,eintrag entry,empfang receive,ende end," +
  "entfern remove delete,entpack unpack extract,entscheid decide,entschluessel decrypt,entwickl develop,ereignis event,ergebnis result," +
  "ersatz replacement,erstell create,ersetz replace,erweiter extend extension,erzeug create generate,faehigkeit capability,farb color,fehler error," +
  "fehlermeld error message,fenster window,fest fixed,festleg set,feld field,filter filter,freigab release free,freigeb free release," +
  "fuellen fill,funktion function,gebiet area,gemeinsam shared,geschuetz protected,geschwindigkeit speed,geraet device,groess size," +
  "gueltig valid,ungueltig invalid,haupt main,herunterfahr shutdown,herunterlad download,hinzufueg add,hinzu add,hoch height,hochlad upload," +
  "inhalt content,initialisier initialize,kanal channel,kennwort password,klass class,knoten node,komprimier compress,konfigur config,konstant constant," +
  "konvertier convert,kopfzeil header,kopier copy,laenge length,laden load,lade load,laed load,laufzeit runtime,leer empty clear,leistung performance,lesen read,liest read,gelesen read,list list," +
  "loesch delete remove,loes solve,meld report,menge set,methode method,modul module,muster pattern,nachricht message,nachschlag lookup,nam name," +
  "netz network,netzwerk network,nummer number,nutz use,oberflaeche interface,oeffn open,offen open,ordner folder directory,ordnung order,paket package packet," +
  "passwort password,pfad path,platz place space,plan plan schedule,pruef check verify,prozess process,puffer buffer,quell source,rahmen frame," +
  "rechn compute,rechte permission,regel rule,reihenfolg order,registrier register,ressourc resource,rueckgab return,rueckgaengig undo,ruf call," +
  "sammel collect,schalt switch,schaltflaech button,schleif loop,schliess close,schloss close,schluessel key,schnittstell interface api," +
  "schreib write,schrieb write,schutz protect,schwell threshold,seit page,send send,setz set,sicher save secure,sicherheit security,sicherung backup,sitzung session," +
  "skalier scale,sortier sort,speicher memory,speichern save store,speichert save store,spalt column,sperr lock,sprach language,spring jump,standard standard default," +
  "stapel stack batch,start start,startet start,steuer control,stopp stop,such search find,suche search,tabell table,takt tick,tast key,teil part split," +
  "teilen share split,test test,text text,trenn separate split,typ type,uebergab pass,uebergeb pass,uebersetz translate compile,uebertrag transfer," +
  "ueberpruef verify check,ueberschreib override overwrite,ueberwach monitor watch,umbenenn rename,umgebung environment,umleit redirect,umwandel convert," +
  "umwandl convert,unterbrech interrupt,unterstuetz support,variabl variable,veraltet deprecated,verarbeit process,verbind connect connection," +
  "verbund connect connection,vererb inherit,verfall expire,vergleich compare,verlauf history,verschieb move,verschluessel encrypt,version version," +
  "verteil distribute,verwalt manage,verwend use,verzeichnis directory,verzoeger delay,vorlag template,waehl select,warn warning,wart wait," +
  "warteschlang queue,weg path route,weiterleit forward redirect,werkzeug tool,wert value,wiederhol retry repeat,wiederherstell restore recover," +
  "wurzel root,zaehl count,zeichen character,zeichenkett string,zeichn draw,zeig pointer show,zeil line,zeit time,zeitpunkt time,zeitueberschreit timeout," +
  "zerleg parse split,ziel target,zufall random,zugang access,zugriff access,zugreif access,zuordn mapping,zurueckgeb return,zuruecksetz reset," +
  "zustand state,zuweis assign,zwischenspeicher cache,pars parse,cach cache,abgefang catch intercept,gefund find found,find find,wirf throw,worf throw,werf throw";

/** Han and Kana, in both spellings of Chinese where they differ; an entry without a translation is a word of grammar. */
export const IDEOGRAPHIC =
  // Chinese
  "内存 memory,記憶體 memory,释放 free release,釋放 free release,分配 allocate,文件 file,檔案 file,文件夹 folder directory,目录 directory,路径 path,删除 delete remove," +
  "刪除 delete remove,移除 remove,添加 add,新增 add,增加 add increment,创建 create,建立 create,修改 modify change,更新 update,读取 read,讀取 read,写入 write,寫入 write," +
  "保存 save,存储 store storage,加载 load,載入 load,打开 open,关闭 close,關閉 close,连接 connect connection,連接 connect connection,断开 disconnect,请求 request," +
  "請求 request,响应 response,回應 response,服务器 server,客户端 client,端口 port,网络 network,错误 error,錯誤 error,异常 exception,例外 exception,处理 handle," +
  "處理 handle,处理器 handler,函数 function,函數 function,方法 method,变量 variable,常量 constant,类 class,类型 type,型別 type,接口 interface api,参数 parameter argument," +
  "參數 parameter argument,返回 return,返回值 return value,调用 call,呼叫 call,回调 callback,事件 event,监听 listen,消息 message,队列 queue,佇列 queue,线程 thread,進程 process," +
  "进程 process,锁 lock,加锁 lock,解锁 unlock,同步 sync,异步 async,缓存 cache,快取 cache,缓冲 buffer,缓冲区 buffer,数据 data,資料 data,数据库 database,資料庫 database," +
  "查询 query,查詢 query,搜索 search,查找 find lookup,索引 index,排序 sort,过滤 filter,过期 expire,過期 expire,超时 timeout,逾時 timeout,重试 retry,失败 fail failure," +
  "成功 success,验证 validate verify,驗證 validate verify,检查 check,檢查 check,登录 login,登入 login,退出 exit logout,注销 logout,用户 user,使用者 user,密码 password," +
  "密碼 password,权限 permission,認證 authentication,认证 authentication,授权 authorize,会话 session,會話 session,令牌 token,加密 encrypt,解密 decrypt,哈希 hash," +
  "签名 signature,压缩 compress,解压 decompress,解析 parse,序列化 serialize,反序列化 deserialize,编码 encode,解码 decode,转换 convert,格式 format,字符串 string," +
  "字串 string,字符 character,数组 array,列表 list,字典 dictionary dict,集合 set,对象 object,键 key,值 value,默认 default,配置 config configuration,設定 config setting," +
  "设置 set setting,选项 option,环境 environment,启动 start,啟動 start,停止 stop,初始化 initialize init,运行 run,执行 execute,執行 execute,命令 command,测试 test,日志 log," +
  "日誌 log,打印 print,输入 input,输出 output,复制 copy replication,移动 move,替换 replace,合并 merge,分割 split,比较 compare,计算 compute calculate,长度 length,大小 size," +
  "数量 count,计数 count,限制 limit,时间 time,日期 date,定时 timer,定时器 timer,延迟 delay,随机 random,版本 version,模块 module,模組 module,依赖 dependency,导入 import," +
  "导出 export,路由 route router,中间件 middleware,模板 template,页面 page,按钮 button,图片 image,颜色 color,窗口 window,状态 state status,狀態 state status,注册 register," +
  "淘汰 evict,策略 policy strategy,集群 cluster,节点 node,主从 master replica,持久化 persist persistence,快照 snapshot,备份 backup,恢复 restore recover,发送 send,接收 receive," +
  "垃圾回收 garbage collect,泄漏 leak,指针 pointer,代码 code,源码 source," +
  "在哪里,哪里,哪裡,在哪,哪个,哪些,如何,怎么,怎麼,怎样,怎樣,什么,什麼,为什么,是,的,了,被,在,和,与,或,中,里,时,把,会,吗,呢,有,用,从,到,进行,一个,这个,实现," +
  // Japanese
  "メモリ memory,メモリー memory,解放 free release,確保 allocate,割り当て allocate,ファイル file,フォルダ folder directory,ディレクトリ directory,パス path,削除 delete remove," +
  "追加 add,作成 create,生成 generate create,変更 change,読み込み read load,読み込 read load,読み取り read,読む read,読ま read,書き込み write,書き込 write,書く write,書か write,開く open,開か open," +
  "閉じる close,閉じ close,接続 connect connection,切断 disconnect,リクエスト request,要求 request,レスポンス response,応答 response,サーバー server,サーバ server,クライアント client," +
  "ポート port,ネットワーク network,エラー error,処理 handle process,ハンドラ handler,関数 function,メソッド method,変数 variable,定数 constant,クラス class,型 type,インターフェース interface," +
  "引数 argument parameter,戻り値 return value,戻す return,呼び出し call,呼び出 call,コールバック callback,イベント event,メッセージ message,キュー queue,スレッド thread,プロセス process," +
  "ロック lock,排他 lock exclusive,非同期 async,同期 sync,キャッシュ cache,バッファ buffer,データ data,データベース database,問い合わせ query,クエリ query,検索 search,探す find,並べ替え sort," +
  "ソート sort,フィルタ filter,有効期限 expire,期限切れ expire expired,期限 expire,タイムアウト timeout,再試行 retry,リトライ retry,失敗 fail failure,検証 validate verify,確認 check,ログイン login," +
  "ログアウト logout,ユーザー user,ユーザ user,パスワード password,権限 permission,認可 authorize,セッション session,トークン token,暗号化 encrypt,復号 decrypt,ハッシュ hash,署名 signature," +
  "圧縮 compress,展開 extract decompress,構文解析 parse,シリアライズ serialize,変換 convert,形式 format,文字列 string,文字 character,配列 array,リスト list,オブジェクト object,キー key," +
  "既定 default,デフォルト default,オプション option,環境 environment,起動 start,開始 start begin,停止 stop,終了 exit end,実行 execute run,コマンド command,テスト test,ログ log,表示 show display," +
  "入力 input,出力 output,コピー copy,移動 move,置換 replace,比較 compare,計算 compute calculate,長さ length,サイズ size,個数 count,制限 limit,時間 time,時刻 time,日付 date,タイマー timer," +
  "遅延 delay,乱数 random,バージョン version,モジュール module,依存 dependency,ルーティング routing route,ルート route root,ルーター router,ミドルウェア middleware,テンプレート template,ページ page," +
  "ボタン button,画像 image,色 color,状態 state status,登録 register,監視 watch monitor,通知 notify,クラスタ cluster,ノード node,永続化 persist persistence,スナップショット snapshot," +
  "バックアップ backup,復元 restore,送信 send,受信 receive,更新 update,保存 save,取得 get fetch,設定 config setting,クッキー cookie,ヘッダー header,ヘッダ header," +
  "どこで,どこ,どのように,どうやって,どう,なぜ,何,の,は,が,を,に,で,と,へ,も,や,か,から,まで,する,します,した,して,される,されます,された,されて,いる,います,ている,ですか,です,ますか,ます,れる,れます,られる,られます,こと,この,その";

/**
 * Words of grammar by language. Those after the stroke are words, abbreviations or names of languages elsewhere as well, so that they do not tell
 * the language.
 */
export const FUNCTION_WORDS = {
  de:
    "aber alle auch auf aus beim bei dass dem einem einen eine einer eines ein fuer funktioniert funktionieren geht gemacht gibt hier ihr ist kann kein keine laeuft macht mit nach nicht noch oder passiert sich sie sind " +
    "ueber und vom von wann warum was welche welcher welches welchem wenn werden wer wie wird wo wohin woher wurde wurden zum zur zwischen ich wir mein hat haben | " +
    "ab als am an bis das den der des die durch er es im in man nur ob so um war zu",
  fr:
    "avec ce cette ces comme dans des elle est-ce les leur mais ou où par pas pour pourquoi quand que quel quelle quelles quels qui sans sont sur une être fait faire je nous vous " +
    "il ils sera | au aux comment de du en est et la le les se son un à ont on",
  es:
    "como cómo con cual cuál cuando cuándo cuáles donde dónde está están esta este hace hacer hay las los para pero por porque qué que quién se según si sin sobre " +
    "son sus una unas unos puede puedo | a al de del el en es la lo no o su un y",
} as const;

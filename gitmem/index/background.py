"""How common a search token is in ordinary prompts and notes, so that idf works in a memory of one card.

With three cards, document frequencies say nothing: `the` and `uv` each occur in one. So every count is mixed
with a prior, a table written by hand for this product: function words, the verbs and nouns of everyday coding
and office requests, and frequent topics, in English and Chinese, each with an estimate of the share of short
texts that hold it. What is not listed is judged by its shape.

The entries are tokens as `gitmem.index.analyse.tokens` gives them (stems, single characters, pairs); a test
holds the two together. The module knows nothing of cards or indexes.
"""

from __future__ import annotations

from math import log

from gitmem.index.analyse import is_identifier_like

_ALMOST_EVERYWHERE = (
    "the a an and or of to in on for with is are was were be been am it its this that these those i you "
    "he she we they me my mine your our their us him her his them as at by from but not no nor do doe did "
    "done have has had will would can could should may might must shall if then els so than too veri just "
    "also onli there here what which who whom whose when where why how all any some each everi both few "
    "more most other anoth such own same about into over out off again pleas im ive id ill dont cant wont "
    "didnt doesnt isnt arent wasnt werent couldnt wouldnt shouldnt let hes shes theyr weve s t yes ok "
    "okay myself yourself itself themselv one much mani lot while though although becaus sinc until "
    "unless whether either neither yet still even ever never alway often sometim mayb perhap quit rather "
    "realli actual basic simpli alreadi howev therefor thus henc etc "
    "的 了 我 你 您 他 她 它 们 是 这 那 把 被 就 也 都 很 吗 呢 吧 啊 呀 么 和 与 及 或 而 但 且 着 之 "
    "其 所 一 个 些 某 每 不 没 还 又 再 请 帮 给 让 在 有 于 则 即 若 虽 并 我们 你们 他们 她们 它们 "
    "咱们 帮我 一下 一个 这个 那个 这些 那些 这里 那里 这样 那样 这边 什么 怎么 怎样 为什 多少 哪里 哪个 "
    "哪些 可以 请你 请帮 没有 不是 就是 还是 如果 因为 所以 但是 然后 而且 或者 以及 还有 已经 现在 一些 "
    "有些 一样 是否 是不 不要 不用 不能 不会 应该 可能 能不 能否 我的 你的 他的 的是 都是 也是 也不 我想 "
    "我要 给我 让我 把这 了一 有一 是一 的话 一点 有点 有没 么样 一直 一起 其实 其他 其它 只是 只要 只有 "
    "虽然 不过 于是 因此 那么 这么 多么 自己 大家 别人 时候 的时 之后 之前 以后 以前 的一 个的"
)
_VERY_COMMON = (
    "set up down use make need want get go like new now know see way thing work help project run chang "
    "updat add fix test try look check show tell give think sure thank hi hello hey someth anyth everyth "
    "noth someon anyon first last next back right good great nice well take put keep come call time day "
    "today current befor after between without within dure through against across code file two three "
    "sever abl possibl necessari requir instead togeth kind sort bit littl long short big small old "
    "better best easi hard quick say said mean start user differ follow abov below per via under around "
    "along base "
    "上 下 中 里 外 前 后 大 小 多 少 会 能 可 以 要 想 用 到 说 对 来 去 过 为 从 做 看 好 新 人 时 地 "
    "得 出 起 只 最 更 太 非 将 向 由 两 二 三 几 第 次 种 样 点 天 年 月 日 如 果 因 然 什 怎 哪 谁 该 "
    "当 此 写 改 加 跑 问 找 开 关 行 成 同 自 己 法 事 家 话 无 比 等 先 已 经 现 项 件 文 码 代 看看 "
    "看下 看一 项目 代码 文件 测试 运行 修改 添加 增加 更新 改一 改成 改下 加一 加个 加上 写一 写个 写下 "
    "做一 做个 跑一 跑下 试试 试一 查一 查看 检查 使用 需要 想要 知道 告诉 谢谢 你好 您好 好的 可是 问题 "
    "问一 东西 事情 方法 方式 办法 时间 今天 昨天 明天 目前 当前 最近 最后 最新 首先 其中 另外 所有 全部 "
    "任何 每个 每次 整个 里面 上面 下面 前面 后面 外面 左右 之间 关于 对于 根据 按照 通过 由于 为了 除了 "
    "直接 一共 一定 用户 进行 开始 完成 结束 继续 处理 实现 解决 帮忙 麻烦 觉得 认为 希望 喜欢 起来 出来 "
    "下来 进去 过来 一次 一种 两个 几个 第一 不同 相同 类似 非常 比较 特别 尤其 顺便 重新 再次 马上 立刻"
)
_COMMON = (
    "creat write read delet remov move open close save build instal stop find search list print return "
    "function method class variabl valu type name data line text string number error issu problem bug "
    "question answer exampl case part step point end begin input output result log messag page link "
    "folder directori path command script app applic program version option config configur featur task "
    "job review explain implement refactor handl support ensur exist previous correct wrong broken fail "
    "failur miss proper exact probabl simpl full whole entir complet finish main default common general "
    "specif certain includ contain provid generat send receiv load view edit replac copi paste renam "
    "later soon onc twice week month year hour minut second tomorrow yesterday morn peopl person team "
    "everyon ask talk discuss suggest idea plan note detail info inform content item order group level "
    "state status process system servic tool reason caus purpos goal approach solut improv optim clean "
    "cleanup cleaner properti turn bring leav happen seem appear becom allow avoid prevent expect consid "
    "compar choos select pick decid cannot whatev whenev whichev anyway otherwis high low left top bottom "
    "insid outsid free real true fals null none empti avail similar extra addit multipl singl doubl http "
    "https www com org net html readm todo request respons "
    "每天 每日 每周 每月 之一 一切 现有 不可 个月 建 删 查 试 读 存 打 发 收 放 取 换 选 调 传 转 动 作 "
    "工 程 序 学 生 本 名 字 数 据 表 页 面 内 容 标 题 目 录 路 径 错 误 结 输 入 值 型 类 函 变 量 列 "
    "版 户 系 统 功 配 置 设 计 划 图 片 信 息 高 低 长 短 快 慢 全 部 分 合 定 位 理 解 明 白 接 口 方 "
    "式 原 机 电 网 站 际 实 提 示 正 常 需 求 完 整 应 主 情 况 创建 新建 建立 删除 移除 移动 打开 关闭 "
    "保存 读取 写入 安装 停止 启动 搜索 查找 查询 列表 列出 打印 返回 函数 变量 类型 名称 名字 数据 数字 "
    "文本 文字 字符 错误 报错 失败 成功 答案 例子 示例 情况 部分 步骤 输入 输出 结果 日志 消息 信息 页面 "
    "链接 目录 路径 命令 脚本 程序 应用 版本 选项 设置 配置 功能 任务 工作 解释 说明 支持 确保 确认 正确 "
    "正常 简单 复杂 完整 具体 详细 主要 默认 基本 一般 通常 包含 包括 提供 生成 发送 接收 加载 显示 编辑 "
    "替换 复制 改名 重命 命名 优化 改进 调整 清理 整理 内容 详情 系统 服务 工具 过程 流程 状态 原因 目标 "
    "方案 建议 想法 计划 选择 决定 需求 要求 允许 避免 注意 保持 对比 比如 例如 有效 可用 存在 缺少 多个 "
    "单个 有关 相关 对应 那种 这种 哪种 几种 一行 一段 一句 标题 名为 不对 不好 不行 不了 不到 没法 无法 "
    "出现 发现 遇到 变成 成为 作为 当作 今年 去年 本周 下周 上周 本月 小时 分钟 星期 早上 上午 下午 晚上 "
    "人员 一遍 部署 提交 重构 调试 执行 操作 分析 总结 整体 结构 逻辑 参数 规则 格式 模块 接口 请求 响应"
)
_FREQUENT = (
    "databas tabl column row server client api json css queri key index modul packag librari depend "
    "import export branch commit git repo repositori merg push pull convert pars format style doc "
    "document report email mail meet schedul summari summar draft imag pictur photo video button form "
    "field model compon unit suit sourc target local remot web site websit browser login password token "
    "secret account access permiss role admin host port url address network cach memori disk storag "
    "backup deploy releas publish product develop debug trace loop array object dict map tree node graph "
    "event thread async callback paramet argument attribut interfac templat pattern rule schema record "
    "entri header footer titl label comment descript section chapter paragraph word sentenc letter "
    "languag english chines translat spell grammar color colour size width height font layout design "
    "theme icon menu chart price cost budget money payment invoic custom compani contract offic paper "
    "articl book research studi analysi analyz experi figur warn except crash timeout retri limit perform "
    "speed slow fast cpu lint linter formatt compil syntax hook plugin extens framework frontend backend "
    "feedback opinion prefer convent decis agreement polici guid tutori refer standard phone chat repli "
    "calendar remind deadlin date session context prompt agent assist histori card secur privaci licens "
    "licenc copyright sign signatur verifi valid filter count sum averag total maximum minimum random "
    "uniqu duplic split join append insert drop upload download sync migrat upgrad enabl disabl hide "
    "toggl switch click scroll drag window mac ios android mobil desktop termin shell consol fit match "
    "mode trigger wait connect track watch monitor global privat public share core root home "
    "据库 库 段 章 节 句 词 语 言 译 账 号 密 权 限 钱 价 买 卖 店 课 师 医 车 房 饭 菜 水 议 邮 箱 周 报 "
    "稿 论 研 究 字段 表格 务器 客户 户端 索引 模型 组件 按钮 表单 图片 图表 图像 视频 音频 网站 网页 "
    "网络 浏览 登录 注册 密码 令牌 账号 权限 管理 理员 主机 端口 地址 缓存 内存 磁盘 存储 备份 发布 上线 "
    "线上 生产 开发 环节 循环 数组 对象 事件 线程 异步 回调 属性 模板 模式 记录 标签 注释 描述 章节 段落 "
    "单词 句子 语言 中文 英文 翻译 语法 颜色 大小 宽度 高度 字体 布局 设计 主题 菜单 价格 成本 预算 付款 "
    "发票 订单 公司 合同 论文 文章 文档 文献 研究 实验 法论 警告 异常 崩溃 超时 重试 限制 性能 速度 编译 "
    "插件 扩展 框架 前端 后端 反馈 偏好 约定 决策 政策 指南 教程 参考 标准 电话 聊天 回复 日历 提醒 截止 "
    "日期 会话 上下 下文 提示 助手 历史 记忆 卡片 安全 隐私 许可 版权 签名 验证 校验 过滤 排序 统计 总数 "
    "平均 最大 最小 随机 唯一 重复 合并 拆分 追加 插入 上传 下载 同步 迁移 升级 启用 禁用 隐藏 切换 点击 "
    "手机 桌面 终端 控制 连接 监控 全局 本地 远程 私有 公共 共享 会议 会员 邮件 邮箱 周报 日报 报告 汇报 "
    "材料 草稿 来源 个人 能力 过期 到期 上游 下游 在线 离线 可视 对齐 分支 仓库 推送 拉取 冲突 依赖 引用 "
    "导入 导出 解析 转换 样式 接入 集成 单元 覆盖 用例 断言 规范 风格 习惯 团队 成员 同事 老板 领导 负责 "
    "安排"
)
_TOPICAL = (
    "python javascript typescript java rust rubi php swift kotlin sql bash linux ubuntu docker kubernet "
    "environ virtual cloud aws azur react vue npm pip django flask pytest postgr postgresql mysql sqlite "
    "redi mongodb github gitlab excel spreadsheet slide present pdf csv xml yaml markdown latex regex "
    "machin learn train dataset neural vector embed llm openai claud gpt travel flight hotel restaur food "
    "health famili birthday holiday vacat tax bank salari interview resum market sale analyt dashboard "
    "metric school cours student teacher exam universiti hospit doctor encrypt certif ssh proxi firewal "
    "router domain dns pipelin workflow autom ci cd approv stage cluster timezon unicod encod utf8 ascii "
    "queue worker cron lock transact rollback replica shard makefil cmake webpack vite eslint prettier "
    "ruff black mypi notebook jupyt panda numpi "
    "一致 不变 并发 并行 并列 个性 有限 给定 请假 每年 在职 被动 环 境 独 立 虚 拟 器 镜 像 云 端 训 练 "
    "嵌 税 银 旅 游 航 班 酒 餐 厅 健 康 孩 父 母 环境 虚拟 容器 镜像 集群 云端 机器 学习 训练 据集 神经 "
    "向量 嵌入 幻灯 演示 旅行 航班 酒店 餐厅 健康 家庭 生日 假期 税务 银行 工资 面试 简历 营销 销售 指标 "
    "看板 学校 课程 学生 老师 考试 大学 医院 医生 加密 证书 代理 防火 路由 域名 流水 水线 自动 动化 审批 "
    "预发 时区 编码 队列 调度 事务 回滚 副本 分片 爬虫 正则 区块 芯片 显卡 合规 审计 灰度 埋点 限流 熔断 "
    "微服"
)

_TIERS = (
    (0.5, _ALMOST_EVERYWHERE),
    (0.2, _VERY_COMMON),
    (0.08, _COMMON),
    (0.03, _FREQUENT),
    (0.01, _TOPICAL),
)
# Share of documents, by token.
_LISTED: dict[str, float] = {token: share for share, words in _TIERS for token in words.split()}
_STOP = frozenset(_ALMOST_EVERYWHERE.split())

# Beside one of the single characters of the first tier a pair is mostly an accident of two words meeting
# (`我配`, `下这`); beside one of these, often. Real words with such a character are listed above.
_LOOSE = frozenset(
    "上下中里外前后大小多少会能可以要想用到说对来去过为从做看好得出起最更太将向由两二三几第次种样点先已等"
)


def probability(term: str) -> float:
    """Estimate the share of short texts (prompts, cards) that hold a token.

    Args:
        term: a token of `gitmem.index.analyse.tokens`.

    Returns:
        More than 0, at most 0.5.
    """
    listed = _LISTED.get(term)
    return _by_shape(term) if listed is None else listed


def is_stop(term: str) -> bool:
    """Tell whether a token is in the top tier: in about every second text, so that sharing it means nothing."""
    return term in _STOP


def idf(term: str, df: int, n: int, prior_docs: int = 200) -> float:
    """Weigh a term by its rarity, with the table standing in for `prior_docs` unseen documents.

    Args:
        term: a token of `gitmem.index.analyse.tokens`.
        df: documents of the memory that hold it.
        n: documents of the memory.
        prior_docs: weight of the table, in documents.

    Returns:
        Nats; never negative; 0.7 for the commonest words, about 5.8 for a name that occurs nowhere, more in larger
        memories. Never more than the surprise of meeting the term in a prompt, -ln p: "run the test" says as
        little to ten thousand cards as to ten, however rare the word is among them.

    Source: Robertson and Spärck Jones, JASIS 1976, doi:10.1002/asi.4630270302, with 1 added inside the
    logarithm so that a term in more than half of the documents keeps a weight of at least 0.
    """
    documents = n + prior_docs
    holding = min(df + prior_docs * probability(term), documents)
    return min(log(1 + (documents - holding + 0.5) / (holding + 0.5)), -log(probability(term)))


def _by_shape(term: str) -> float:
    if term.isascii():
        if term.isdigit():
            return 0.02 if len(term) <= 2 else 0.001
        if len(term) == 1:
            return 0.02
        # Stems longer than this are nearly always identifiers run together.
        return 0.0005 if is_identifier_like(term) or len(term) >= 14 else 0.002
    if term[0] < "\u2e80" or len(term) > 2:
        return 0.002
    if len(term) == 1:
        return 0.02
    if not _STOP.isdisjoint(term):
        return 0.35
    return 0.02 if not _LOOSE.isdisjoint(term) else 0.002
